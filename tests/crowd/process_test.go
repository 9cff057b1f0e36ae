package crowd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// crowd is what a process is told to be.
type crowd struct {
	// Many is the number of goroutines that ask, each once.
	Many int
	// Paths: each asks for a lock of its own, with a path of 200 characters. Otherwise all ask for one.
	Paths bool
	// Unbounded lifts the bounds of the session.
	Unbounded bool
	// Weight is the bound of the session's weight, in bytes; zero is the usual.
	Weight int
	// Passes: a goroutine that is granted the lock gives it back.
	Passes  bool
	Servers string
}

// process is one that asks, until it is told to end.
type process struct {
	*rig.Talker
	last string // that was awaited
}

// crowdVariable has the crowd of a process that asks.
const crowdVariable = "TURNSTILE_CROWD_OF"

func TestMain(m *testing.M) {
	rig.Ordered(crowdVariable, crowd.gather)
	os.Exit(m.Run())
}

// start starts the process, and waits until all of the crowd hold, wait, or were refused, and the servers have the nodes.
func (k crowd) start(t *testing.T, connect string, members ...*rig.Server) *process {
	t.Helper()
	k.Servers = connect
	cmd, err := rig.Again(crowdVariable, k)
	require.NoError(t, err)
	cmd.Stderr = scene.ErrorOutput(t, os.Stderr)
	talker, err := rig.Talk(cmd)
	require.NoError(t, err)
	p := &process{Talker: talker}
	t.Cleanup(func() { _ = p.Kill() })
	p.await(t, "crowded")
	var nodes int
	_, err = fmt.Sscanf(p.last, "crowded %d nodes", &nodes)
	require.NoError(t, err)
	for _, m := range members {
		scene.Eventually(t, func() bool {
			has, err := m.Address().Ephemerals(scene.Deadline(t))
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

// gather is the process. A crowd whose session runs out while it gathers never stands in full, and a machine with other work
// makes it slow: so the session is a long one.
func (k crowd) gather() error {
	opts := []locks.Option{locks.WithSessionTimeout(scene.Session)}
	if k.Weight > 0 {
		opts = append(opts, locks.WithMaxNodeBytes(k.Weight))
	}
	if k.Unbounded {
		opts = append(opts, locks.WithMaxNodeBytes(1<<40), locks.WithMaxWaiting(1<<30))
	}
	ctx, stop := context.WithTimeout(context.Background(), scene.Bound)
	defer stop()
	client, err := locks.Open(ctx, k.Servers, opts...)
	if err != nil {
		return err
	}
	a := &asking{crowd: k, client: client}
	var all sync.WaitGroup
	begun := time.Now()
	first := 0
	if !k.Passes {
		a.ask(ctx, 0) // it holds, and is not refused: somebody is to wait behind it
		first = 1
	}
	for i := first; i < k.Many; i++ {
		all.Go(func() { a.ask(ctx, i) })
	}
	if err := a.settled(ctx); err != nil {
		return err
	}
	state := client.State()
	fmt.Printf("crowded %d nodes after %v: %d hold, %d were refused, %d wait inside, the nodes weigh %d of %d bytes\n",
		state.NodeBytes/k.each(), time.Since(begun).Round(time.Millisecond), a.held.Load(), a.refused.Load(), state.Inside,
		state.NodeBytes, state.MaxNodeBytes)
	if k.Passes {
		all.Wait()
		if err := a.failed.Load(); err != nil {
			return *err
		}
		if held := int(a.held.Load()); held != k.Many {
			return fmt.Errorf("%d of %d have held, %d were refused", held, k.Many, a.refused.Load())
		}
		fmt.Printf("passed %d\n", k.Many)
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
}

// path is the lock path of one of the crowd.
func (k crowd) path(i int) string {
	if !k.Paths {
		return "/orders/" + strings.Repeat("x", 92)
	}
	return fmt.Sprintf("/%0199d", i)
}

// each is the weight of a node of the crowd, in bytes.
func (k crowd) each() int {
	const name = len("_c_01234567-0123-0123-0123-0123456789ab-lock-0123456789")
	return 4 + len(k.path(0)) + 1 + name
}

func (a *asking) ask(ctx context.Context, i int) {
	lease, err := a.client.Mutex(a.path(i)).Lock(ctx)
	if err == nil && a.Passes {
		err = lease.Unlock(ctx)
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

// settled waits until each of the crowd holds, waits with a node or inside, or was refused.
func (a *asking) settled(ctx context.Context) error {
	for {
		if err := a.failed.Load(); err != nil {
			return *err
		}
		state := a.client.State()
		if int(a.refused.Load())+state.Inside+state.NodeBytes/a.each() >= a.Many {
			return nil
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%d refused, %d inside, %d bytes: %w", a.refused.Load(), state.Inside, state.NodeBytes, ctx.Err())
		}
	}
}
