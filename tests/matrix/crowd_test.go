package matrix

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// plot is a cell about many requests at once: a fault strikes what they have in common, and each has an end that
// is demanded of it.
type plot struct {
	name    string
	outcome string // what must come out, in one sentence
	play    func(t *testing.T, c *crowd)
}

// testPlots runs the plots of a list, each in a bubble of its own. The test runs beside others.
func testPlots(t *testing.T, plots []plot) {
	t.Helper()
	t.Parallel()
	for _, p := range plots {
		t.Run(p.name, func(t *testing.T) {
			t.Logf("required: %s", p.outcome)
			synctest.Test(t, func(t *testing.T) {
				c := newCrowd(t)
				p.play(t, c)
				c.conclude(t)
			})
		})
	}
}

// crowd is many requests of one session, which the fault strikes, and of others.
type crowd struct {
	*world
	ours    *locks.Client // what the fault strikes
	theirs  *locks.Client
	members []*member

	mu      sync.Mutex // guards what follows, which holders report: it knows of nodes by their leases alone
	here    map[string][]*member
	tokens  map[string]messages.Token
	numbers map[string]int32
	wrong   []string
}

// steady is the session timeout of those whom no fault strikes: their polls come after all that a scene lasts.
const steady = 50 * time.Second

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{world: newWorld(t, 1), here: map[string][]*member{}, tokens: map[string]messages.Token{}, numbers: map[string]int32{}}
	c.ours, c.theirs = c.open(t), c.open(t, locks.WithSessionTimeout(steady))
	return c
}

func (c *crowd) open(t *testing.T, opts ...locks.Option) *locks.Client {
	t.Helper()
	return c.join(t, mutex, c.server.Connect(), opts...).client
}

// member is one request of a crowd, made on a goroutine of its own.
type member struct {
	*player
	path     string
	cancel   context.CancelFunc
	giveBack func()        // tells it to give back, and waits for nothing
	err      error         // what Lock returned, or Unlock
	done     chan struct{} // closed when it has ended
	ends     error         // the error that it must end with: nil for one that holds, and gives back
	mayLose  bool          // the fault and its Unlock are on their way at the same time
	held     bool          // that it has held is known
	excused  bool          // its hold is ended on purpose, even if it does not know yet
}

// enter has a request made for a lock path. It holds until it is told to give back.
func (c *crowd) enter(t *testing.T, client *locks.Client, lockPath string, opts ...locks.LockOption) *member {
	t.Helper()
	return c.play(t, newPlayer(t, client, mutexAt(lockPath, opts...)), lockPath)
}

// call has our client call Lock. No actor observes the call, so it may share a hold.
func (c *crowd) call(t *testing.T, lockPath string, opts ...locks.LockOption) *member {
	t.Helper()
	m := c.play(t, &player{client: c.ours, locker: c.ours.Mutex(lockPath, opts...)}, lockPath)
	synctest.Wait()
	return m
}

func (c *crowd) play(t *testing.T, p *player, lockPath string) *member {
	t.Helper()
	ctx, cancel := context.WithCancel(scene.Deadline(t))
	t.Cleanup(cancel)
	leave, until := make(chan struct{}), scene.Deadline(t)
	m := &member{player: p, path: lockPath, cancel: cancel, done: make(chan struct{}), giveBack: sync.OnceFunc(func() { close(leave) })}
	c.members = append(c.members, m)
	t.Cleanup(func() { // when the test has failed before its end
		m.giveBack()
		<-m.done
	})
	go func() {
		defer close(m.done)
		if m.lease, m.err = m.locker.Lock(ctx); m.err == nil {
			c.comes(m)
			<-leave
			c.goes(m)
			m.err = unlock(until, m.lease)
		}
	}()
	return m
}

// queue has several requests made for one lock path, each when the one before stands in the queue.
func (c *crowd) queue(t *testing.T, client *locks.Client, n int, lockPath string) (all []*member) {
	t.Helper()
	for range n {
		all = append(all, c.enter(t, client, lockPath))
		synctest.Wait()
	}
	return all
}

// comes notes that a member holds. Nobody else may hold with a valid lease; its token must be greater than all
// before, and so must the number of its node, unless that is the one that was held before.
func (c *crowd) comes(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.held = true
	if !m.lease.Valid() || m.excused {
		return // it has lost already, and knows it or is about to
	}
	number, _ := queue.Sequence(m.lease.Node())
	for _, other := range c.here[m.path] {
		if other.lease.Valid() && !other.excused {
			c.wrong = append(c.wrong, fmt.Sprintf("%s and %s hold at the same time", other.lease.Node(), m.lease.Node()))
		}
	}
	if m.lease.Token() <= c.tokens[m.path] || number < c.numbers[m.path] {
		c.wrong = append(c.wrong, fmt.Sprintf("%s holds out of order, with token %v after %v", m.lease.Node(), m.lease.Token(), c.tokens[m.path]))
	}
	c.tokens[m.path], c.numbers[m.path] = m.lease.Token(), number
	c.here[m.path] = append(c.here[m.path], m)
}

// goes notes that a member is about to give back.
func (c *crowd) goes(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.here[m.path] = slices.DeleteFunc(c.here[m.path], func(other *member) bool { return other == m })
}

func (c *crowd) excuse(m *member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m.excused = true
}

// loses excuses a member that loses the lock by something that the servers know first.
func (c *crowd) loses(m *member) {
	c.excuse(m)
	m.ends = locks.ErrLost
}

// holds reports whether a member holds, or has held.
func (c *crowd) holds(m *member) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return m.held
}

// inOrder has some hold in this order, one at a time.
func (c *crowd) inOrder(t *testing.T, order ...*member) {
	t.Helper()
	for i, m := range order {
		c.awaitHolds(t, m)
		for _, later := range order[i+1:] {
			require.False(t, c.holds(later), "before its turn")
		}
		m.giveBack()
		<-m.done
	}
}

// awaitHolds waits until a member holds.
func (c *crowd) awaitHolds(t *testing.T, m *member) {
	t.Helper()
	scene.Eventually(t, func() bool { return c.holds(m) }, "the member holds")
}

// conclude has everybody give back as soon as they hold, and compares: how each has ended, that one held at a time and
// in the order of the queue, and that no node is left.
func (c *crowd) conclude(t *testing.T) {
	t.Helper()
	synctest.Wait()
	for _, m := range c.members {
		m.giveBack()
	}
	for i, m := range c.members {
		scene.Receive(t, m.done)
		switch {
		case m.ends != nil:
			require.ErrorIs(t, m.err, m.ends, "request %d", i)
			require.True(t, m.lease != nil || m.ends != locks.ErrLost, "request %d", i)
		case m.err != nil:
			require.True(t, m.mayLose && m.lease != nil && errors.Is(m.err, locks.ErrLost), "request %d: %v", i, m.err)
		}
	}
	time.Sleep(timeout + 2*tick) // everything late has come
	for lockPath := range c.tokens {
		require.Empty(t, c.children(t, lockPath), "nodes are left in %s", lockPath)
	}
	require.Empty(t, c.wrong, strings.Join(c.wrong, "; "))
}

// session is the id of a client's.
func session(client *locks.Client) int64 { return client.Session().ID() }

// strike has something happen to requests of the session that the fault is for.
func (c *crowd) strike(t *testing.T, f embedded.Fault) *embedded.Injection {
	t.Helper()
	f.Session = session(c.ours)
	return c.inject(t, f)
}

// know has our session learn of lock paths, so that the next creates are the contenders' own.
func (c *crowd) know(t *testing.T, lockPaths ...string) {
	t.Helper()
	for _, lockPath := range lockPaths {
		scene.GiveBack(t, scene.LockAt(t, c.ours, lockPath))
	}
	synctest.Wait()
}

// deleteNode deletes a member's node, as an operator would.
func (c *crowd) deleteNode(t *testing.T, m *member) {
	t.Helper()
	require.NoError(t, c.operator.Delete(m.path+"/"+m.node(t), -1))
}

// node is the name of a member's node.
func (m *member) node(t *testing.T) string {
	t.Helper()
	for _, tr := range slices.Backward(m.rec.Transitions()) {
		if tr.Node != "" {
			return tr.Node
		}
	}
	t.Fatal("the member has no node")
	return ""
}

// number is the number of a member's node.
func number(t *testing.T, m *member) int32 {
	t.Helper()
	n, ok := queue.Sequence(m.node(t))
	require.True(t, ok)
	return n
}
