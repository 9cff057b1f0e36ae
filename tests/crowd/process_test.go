package crowd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// crowd has the settings of a process.
type crowd struct {
	// many is the number of goroutines that ask, each once.
	many int
	// paths: each asks for a lock of its own, with a path of 200 characters. Otherwise all ask for one.
	paths bool
	// unbounded lifts the bounds of the session.
	unbounded bool
	// weight is the bound of the session's weight, in bytes; zero is the usual.
	weight int
	// passes: a goroutine that is granted the lock gives it back.
	passes  bool
	timeout time.Duration
}

// process is one that asks, until it is told to end.
type process struct {
	*child.Talker
	last string // that was awaited
}

// The environment of a process that asks: the servers, and the crowd.
const (
	serversVariable = "TURNSTILE_CROWD_SERVERS"
	crowdVariable   = "TURNSTILE_CROWD_OF"
)

func TestMain(m *testing.M) {
	if servers := os.Getenv(serversVariable); servers != "" {
		if err := beCrowd(servers); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// start starts the process, and waits until all of the crowd hold, wait, or were refused, and the servers have the nodes.
func (k crowd) start(t *testing.T, connect string, members ...*rig.Server) *process {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serversVariable+"="+connect,
		fmt.Sprintf("%s=%d %t %t %d %t %d", crowdVariable, k.many, k.paths, k.unbounded, k.weight, k.passes, k.timeout))
	cmd.Stderr = relists.Child(t, os.Stderr)
	talker, err := child.Talk(cmd)
	require.NoError(t, err)
	p := &process{Talker: talker}
	t.Cleanup(func() { _ = p.Kill() })
	p.await(t, "crowded")
	var nodes int
	_, err = fmt.Sscanf(p.last, "crowded %d nodes", &nodes)
	require.NoError(t, err)
	for _, m := range members {
		patient.Eventually(t, func() bool {
			has, err := m.Address().Ephemerals(patient.Deadline(t))
			return err == nil && has >= nodes
		}, "a server has the nodes of the crowd")
	}
	return p
}

// await waits until the process says something.
func (p *process) await(t *testing.T, what string) {
	t.Helper()
	for p.last = range p.Says {
		t.Log(p.last)
		if strings.HasPrefix(p.last, what) {
			return
		}
	}
	require.Fail(t, "the process has ended", "before it said %q", what)
}

// beCrowd is the process.
func beCrowd(servers string) error {
	var k crowd
	if _, err := fmt.Sscan(os.Getenv(crowdVariable), &k.many, &k.paths, &k.unbounded, &k.weight, &k.passes, &k.timeout); err != nil {
		return err
	}
	opts := []locks.Option{locks.WithSessionTimeout(k.timeout)}
	if k.weight > 0 {
		opts = append(opts, locks.WithMaxNodeBytes(k.weight))
	}
	if k.unbounded {
		opts = append(opts, locks.WithMaxNodeBytes(1<<40), locks.WithMaxWaiting(1<<30))
	}
	ctx, stop := context.WithTimeout(context.Background(), patient.Bound)
	defer stop()
	client, err := locks.Open(ctx, servers, opts...)
	if err != nil {
		return err
	}
	a := &asking{crowd: k, client: client, ended: make(chan struct{}, k.many)}
	begun := time.Now()
	first := 0
	if !k.passes {
		a.ask(0) // it holds, and is not refused: somebody is to wait behind it
		first = 1
	}
	for i := first; i < k.many; i++ {
		go a.ask(i)
	}
	if err := a.settled(ctx); err != nil {
		return err
	}
	state := client.State()
	fmt.Printf("crowded %d nodes after %v: %d hold, %d were refused, %d wait inside, the nodes weigh %d of %d bytes\n",
		state.NodeBytes/k.each(), time.Since(begun).Round(time.Millisecond), a.held.Load(), a.refused.Load(), state.Inside,
		state.NodeBytes, state.MaxNodeBytes)
	if k.passes {
		if err := a.passed(ctx); err != nil {
			return err
		}
		fmt.Printf("passed %d\n", k.many)
	}
	_, err = bufio.NewReader(os.Stdin).ReadString('\n') // or it is killed meanwhile
	if err != nil {
		return err
	}
	err = client.Close(ctx)
	fmt.Println("closed:", err)
	return nil
}

// asking is the crowd at work.
type asking struct {
	crowd
	client        *locks.Client
	held, refused atomic.Int64
	failed        atomic.Pointer[error]
	ended         chan struct{} // has one for each request that has ended
}

// path is the lock path of one of the crowd.
func (k crowd) path(i int) string {
	if !k.paths {
		return "/orders/" + strings.Repeat("x", 92)
	}
	return fmt.Sprintf("/%0199d", i)
}

// each is the weight of a node of the crowd, in bytes.
func (k crowd) each() int {
	const name = len("_c_01234567-0123-0123-0123-0123456789ab-lock-0123456789")
	return 4 + len(k.path(0)) + 1 + name
}

func (a *asking) ask(i int) {
	defer func() { a.ended <- struct{}{} }()
	lease, err := a.client.Mutex(a.path(i)).Lock(context.Background())
	if err == nil && a.passes {
		err = lease.Unlock(context.Background())
	}
	switch {
	case err == nil:
		a.held.Add(1)
	case errors.Is(err, locks.ErrSessionFull):
		a.refused.Add(1)
	case !errors.Is(err, locks.ErrClosed):
		a.failed.Store(&err)
	}
}

// passed waits until each of the crowd has held the lock and given it back. A request that fails or is refused is an
// error.
func (a *asking) passed(ctx context.Context) error {
	for range a.many {
		select {
		case <-a.ended:
		case <-ctx.Done():
			return fmt.Errorf("%d of %d have held: %w", a.held.Load(), a.many, ctx.Err())
		}
		if err := a.failed.Load(); err != nil {
			return *err
		}
	}
	if held := int(a.held.Load()); held != a.many {
		return fmt.Errorf("%d of %d have held, %d were refused", held, a.many, a.refused.Load())
	}
	return nil
}

// settled waits until each of the crowd holds, waits with a node or inside, or was refused.
func (a *asking) settled(ctx context.Context) error {
	for {
		if err := a.failed.Load(); err != nil {
			return *err
		}
		state := a.client.State()
		if int(a.refused.Load())+state.Inside+state.NodeBytes/a.each() >= a.many {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%d refused, %d inside, %d bytes: %w", a.refused.Load(), state.Inside, state.NodeBytes, ctx.Err())
		}
	}
}
