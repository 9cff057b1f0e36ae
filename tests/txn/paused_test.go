package txn

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// committerVariable makes the test binary a holder in a process of its own; it holds what to connect to.
const committerVariable = "TURNSTILE_TESTS_COMMITTER"

// trialsVariable sets the number of holders that TestRealPausedHolderCommits pauses.
const trialsVariable = "TURNSTILE_PAUSED_TRIALS"

const (
	pausedTrials  = 10
	committers    = 10
	pausedTimeout = 2 * time.Second
)

// beCommitter is the main function of a committer: it locks and commits as its standard input says, and says what came
// out, a line each.
func beCommitter(connect string) error {
	ctx := context.Background()
	client, err := locks.Open(ctx, connect, locks.WithSessionTimeout(pausedTimeout))
	if err != nil {
		return err
	}
	var lease *locks.Lease
	for commands := bufio.NewScanner(os.Stdin); commands.Scan(); {
		switch commands.Text() {
		case "lock":
			lease, err = client.Mutex("/lock").Lock(ctx)
			fmt.Println("lock", err == nil)
		case "commit": // without a look at anything
			_, err = lease.Txn(ctx, locks.Set("/value", []byte("stale"), locks.AnyVersion))
			fmt.Println("lost", errors.Is(err, locks.ErrLost) && !errors.Is(err, locks.ErrUnknownOutcome))
		}
	}
	_ = client.Close(ctx)
	return nil
}

// committer is one as its parent sees it.
type committer struct {
	*child.Talker
	heard *relists.Listener // to what it writes besides
}

func startCommitter(connect string) (*committer, error) {
	cmd, err := child.Again(committerVariable, connect)
	if err != nil {
		return nil, err
	}
	heard := relists.Listen(os.Stderr)
	cmd.Stderr = heard
	talker, err := child.Talk(cmd)
	return &committer{talker, heard}, err
}

func (c *committer) hear(want string) error {
	if said := <-c.Says; said != want {
		return fmt.Errorf("the child says %q, and not %q", said, want)
	}
	return nil
}

// trial pauses a holder until somebody else holds and has written, and has it commit then. When its time is over it
// kills the holder, which ends its lines.
func (c *committer) trial(others *locks.Client, n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patient.Bound)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = c.Kill() })()
	if err := errors.Join(c.Tell("lock"), c.hear("lock true"), c.Pause()); err != nil {
		return err
	}
	next, err := others.Mutex("/lock").Lock(ctx) // when the servers have ended the session
	if err != nil {
		return err
	}
	write := locks.Create("/value", nil)
	if n > 0 {
		write = locks.Set("/value", []byte(strconv.Itoa(n)), int32(n-1))
	}
	if _, err = next.Txn(ctx, write); err == nil {
		err = errors.Join(c.Tell("commit"), c.Resume(), c.hear("lost true"))
	}
	if err == nil {
		_, err = next.Txn(ctx, locks.Check("/value", int32(n))) // nothing was written
	}
	return errors.Join(err, next.Unlock(ctx))
}

// TestRealPausedHolderCommits: holders are stopped until their sessions have expired and others have written under the lock;
// then they go on, and commit. Each is told ErrLost, and nothing is written. On a real ensemble; TURNSTILE_PAUSED_TRIALS
// says how many, 10 without it.
func TestRealPausedHolderCommits(t *testing.T) {
	rig.Require(t)
	trials := pausedTrials
	if text := os.Getenv(trialsVariable); text != "" {
		var err error
		trials, err = strconv.Atoi(text)
		require.NoError(t, err)
	}
	ensemble := rig.StartEnsemble(t, 3)
	raw := patient.Open(t, ensemble.Addrs())
	setup := patient.Locked(t, raw.Mutex("/setup").Lock)
	roots := make([]string, min(committers, trials))
	for i := range roots {
		roots[i] = "/" + strconv.Itoa(i)
		_, err := setup.Txn(patient.Deadline(t), locks.Create(roots[i], nil))
		require.NoError(t, err)
	}
	var all sync.WaitGroup
	for i, root := range roots {
		all.Go(func() {
			of := trials / len(roots)
			if i < trials%len(roots) {
				of++
			}
			if err := pauseTrials(ensemble.Addrs()+root, of); err != nil {
				t.Error(root, err)
			}
		})
	}
	all.Wait()
	t.Logf("%d trials, by %s", trials, strings.Join(roots, " "))
}

func pauseTrials(connect string, trials int) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patient.Bound)
	defer cancel()
	others, err := locks.Open(ctx, connect, locks.WithSessionTimeout(time.Minute))
	if err != nil {
		return err
	}
	defer func() {
		_ = others.Close(context.Background())
		err = errors.Join(err, relists.None(others.Session().Counters().Polls))
	}()
	c, err := startCommitter(connect)
	if err != nil {
		return err
	}
	defer func() {
		_ = c.Kill()
		err = errors.Join(err, c.heard.Err())
	}()
	for n := range trials {
		if err := c.trial(others, n); err != nil {
			return fmt.Errorf("trial %d: %w", n, err)
		}
	}
	return nil
}
