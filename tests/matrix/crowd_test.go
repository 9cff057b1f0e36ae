package matrix

import (
	"context"
	"errors"
	"fmt"
	"path"
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
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// plot is a cell about many requests at once: a fault strikes what they have in common, and each has an end that
// is demanded of it.
type plot struct {
	name    string
	outcome string // what must come out, in one sentence
	opts    []embedded.Option
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
				c := gather(t, p.opts...)
				p.play(t, c)
				c.conclude(t)
			})
		})
	}
	t.Logf("%d cells", len(plots))
}

// crowd is many requests of one session, which the fault strikes, and of others.
type crowd struct {
	*world
	seen    *onlooker
	sizes   *sizes
	ours    *locks.Client // what the fault strikes
	theirs  *locks.Client
	members []*member
}

// steady is the session timeout of those whom no fault strikes: their polls come after all that a scene lasts.
const steady = 50 * time.Second

// gather opens the clients.
func gather(t *testing.T, opts ...embedded.Option) *crowd {
	t.Helper()
	c := &crowd{seen: newOnlooker(), sizes: &sizes{}}
	c.world = newWorld(t, 1, append(opts, embedded.WithHook(c.sizes.look))...)
	c.ours, c.theirs = c.joinClient(t), c.joinClient(t, locks.WithSessionTimeout(steady))
	return c
}

func (c *crowd) joinClient(t *testing.T, opts ...locks.Option) *locks.Client {
	t.Helper()
	return c.join(t, c.server.Connect(), opts...).client
}

// member is one request of a crowd, made on a goroutine of its own.
type member struct {
	*player
	path   string
	cancel context.CancelFunc
	leave  chan struct{} // closed when it is to give back
	back   error         // what Unlock returned
	err    error         // what Lock did
	done   chan struct{} // closed when it has ended
	ends   ends
	once   sync.Once
}

// ends is the end that a member must have.
type ends int

const (
	wellServed ends = iota // it holds, and gives back
	bereft                 // it holds, and has lost the lock when it gives back
	either                 // it holds, and a fault and its Unlock are on their way at the same time
	givenUp                // Lock returns that it was given up
	closed                 // Lock or Unlock returns that its client is closed
	turnedAway             // Lock returns that it is not permitted
	stuck                  // it holds, and Unlock returns that it is not permitted
)

// enter has a request made for a lock path. It holds until it is told to leave.
func (c *crowd) enter(t *testing.T, client *locks.Client, lockPath string, opts ...locks.LockOption) *member {
	t.Helper()
	return c.enterAs(t, newPlayer(t, client, lockPath, opts...), lockPath)
}

// enterAs is enter for a player.
func (c *crowd) enterAs(t *testing.T, p *player, lockPath string) *member {
	t.Helper()
	ctx, cancel := context.WithCancel(patient(t))
	t.Cleanup(cancel)
	m := &member{player: p, path: lockPath, cancel: cancel,
		leave: make(chan struct{}), done: make(chan struct{})}
	c.members = append(c.members, m)
	until := patient(t)
	t.Cleanup(func() { // when the test has failed before its end
		m.giveBack()
		<-m.done
	})
	go func() {
		defer close(m.done)
		if m.lease, m.err = m.locker.Lock(ctx); m.err != nil {
			return
		}
		c.seen.comes(m)
		<-m.leave
		c.seen.goes(m)
		m.back = unlock(until, m.lease)
	}()
	return m
}

// queue has several requests made for one lock path, each when the one before stands in the queue.
func (c *crowd) queue(t *testing.T, client *locks.Client, n int, lockPath string, opts ...locks.LockOption) (all []*member) {
	t.Helper()
	for range n {
		all = append(all, c.enter(t, client, lockPath, opts...))
		synctest.Wait()
	}
	return all
}

// giveBack tells a member to give back, and waits for nothing.
func (m *member) giveBack() { m.once.Do(func() { close(m.leave) }) }

// holds reports whether a member holds, as the onlooker has seen.
func (c *crowd) holds(m *member) bool { return c.seen.inside(m) }

// awaitHolds waits until a member holds.
func (c *crowd) awaitHolds(t *testing.T, m *member) {
	t.Helper()
	eventually(t, func() bool { return c.holds(m) }, "the member holds")
}

// conclude has everybody give back as soon as they hold, and compares: how each has ended, that one held at a time and
// in the order of the queue, that nobody was woken by nothing but a poll, and that no node is left.
func (c *crowd) conclude(t *testing.T) {
	t.Helper()
	synctest.Wait()
	for _, m := range c.members {
		m.giveBack()
	}
	for i, m := range c.members {
		select {
		case <-m.done:
		case <-patient(t).Done():
			t.Fatalf("request %d of %d never ends; it went %v", i, len(c.members), m.rec.States())
		}
		c.compareEnd(t, i, m)
	}
	time.Sleep(timeout + 2*tick) // everything late has come
	for lockPath := range c.seen.paths() {
		require.Empty(t, c.childrenOf(t, lockPath), "nodes are left in %s", lockPath)
	}
	if wrong := c.seen.wrong(); len(wrong) > 0 {
		for i, m := range c.members {
			t.Logf("request %d, %s, went %v and ended with %v, %v", i, m.path, m.rec.States(), m.err, m.back)
		}
		t.Fatal(strings.Join(wrong, "; "))
	}
}

func (c *crowd) compareEnd(t *testing.T, i int, m *member) {
	t.Helper()
	went := m.rec.Transitions()
	for n := 1; n < len(went); n++ {
		require.False(t, went[n].To == stHeld && went[n-1].On == "Poll", "request %d: only a poll has found out", i)
	}
	switch m.ends {
	case givenUp:
		require.ErrorIs(t, m.err, context.Canceled, "request %d", i)
		return
	case closed:
		require.ErrorIs(t, errors.Join(m.err, m.back), locks.ErrClosed, "request %d", i)
		return
	case turnedAway:
		require.ErrorIs(t, m.err, zkconn.ErrNoAuth, "request %d", i)
		return
	}
	require.NoError(t, m.err, "request %d", i)
	switch m.ends {
	case wellServed:
		require.NoError(t, m.back, "request %d: %v", i, m.rec.States())
	case bereft:
		require.ErrorIs(t, m.back, locks.ErrLost, "request %d: %v", i, m.rec.States())
	case stuck:
		require.ErrorIs(t, m.back, zkconn.ErrNoAuth, "request %d", i)
	case either:
		if m.back != nil {
			require.ErrorIs(t, m.back, locks.ErrLost, "request %d", i)
		}
	}
}

// session is the id of a client's.
func session(client *locks.Client) int64 { return client.Session().ID() }

// strike has something happen to requests of the session that the fault is for.
func (c *crowd) strike(t *testing.T, f embedded.Fault) *embedded.Injection {
	t.Helper()
	if f.Session == 0 {
		f.Session = session(c.ours)
	}
	injection, err := c.server.Inject(f)
	require.NoError(t, err)
	return injection
}

// know has a session learn of lock paths, so that the next creates are the contenders' own.
func (c *crowd) know(t *testing.T, client *locks.Client, lockPaths ...string) {
	t.Helper()
	for _, lockPath := range lockPaths {
		lease, err := client.Mutex(lockPath).Lock(patient(t))
		require.NoError(t, err)
		require.NoError(t, lease.Unlock(patient(t)))
	}
	synctest.Wait()
}

// dismiss deletes a member's node, as an operator does to end its hold.
func (c *crowd) dismiss(t *testing.T, m *member) {
	t.Helper()
	c.seen.excuse(m)
	require.NoError(t, c.operator.Delete(m.path+"/"+m.node(t), -1))
}

// node is the name of a member's node.
func (m *member) node(t *testing.T) string {
	t.Helper()
	transitions := m.rec.Transitions()
	for _, tr := range slices.Backward(transitions) {
		if tr.Node != "" {
			return tr.Node
		}
	}
	t.Fatal("the member has no node")
	return ""
}

// sizes counts the parts of the transactions that the servers were sent.
type sizes struct {
	mu      sync.Mutex
	changes map[int64]int // by session: the most creates and deletes in one transaction
}

func (s *sizes) look(r embedded.Request) embedded.Action {
	if r.Op == embedded.OpMulti {
		s.mu.Lock()
		defer s.mu.Unlock()
		n := 0
		for _, p := range r.Paths {
			if strings.Contains(path.Base(p), "-lock-") {
				n++
			}
		}
		if s.changes == nil {
			s.changes = map[int64]int{}
		}
		s.changes[r.Session] = max(s.changes[r.Session], n)
	}
	return embedded.Pass
}

func (s *sizes) most(session int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes[session]
}

// onlooker is a witness to which holders alone report. It knows nothing of nodes and sessions
// except from their leases.
type onlooker struct {
	mu     sync.Mutex
	here   map[string][]*member
	tokens map[string]messages.Token
	number map[string]int32
	been   map[*member]bool
	broken map[*member]bool
	faults []string
}

func newOnlooker() *onlooker {
	return &onlooker{here: map[string][]*member{}, tokens: map[string]messages.Token{}, number: map[string]int32{},
		been: map[*member]bool{}, broken: map[*member]bool{}}
}

// comes notes that a member holds. Nobody else may hold with a valid lease; its token must be greater than all
// before, and so must the number of its node, unless that is the one that was held before.
func (o *onlooker) comes(m *member) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.been[m] = true
	if !m.lease.Valid() || o.broken[m] {
		return // it has lost already, and knows it or is about to
	}
	for _, other := range o.here[m.path] {
		if other.lease.Valid() && !o.broken[other] {
			o.faults = append(o.faults, fmt.Sprintf("%s and %s hold at the same time", other.lease.Node(), m.lease.Node()))
		}
	}
	if m.lease.Token() <= o.tokens[m.path] {
		o.faults = append(o.faults, fmt.Sprintf("token %v after %v", m.lease.Token(), o.tokens[m.path]))
	}
	number, _ := queue.Sequence(m.lease.Node())
	if number < o.number[m.path] {
		o.faults = append(o.faults, fmt.Sprintf("%s holds out of order", m.lease.Node()))
	}
	o.tokens[m.path], o.number[m.path] = m.lease.Token(), number
	o.here[m.path] = append(o.here[m.path], m)
}

// goes notes that a member is about to give back.
func (o *onlooker) goes(m *member) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.here[m.path] = slices.DeleteFunc(o.here[m.path], func(other *member) bool { return other == m })
}

func (o *onlooker) inside(m *member) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.been[m]
}

// excuse notes that a member's hold is ended on purpose, even if the member does not know yet.
func (o *onlooker) excuse(m *member) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.broken[m] = true
}

// begunAnew notes that a lock path was made again, and with it the numbers of its nodes.
func (o *onlooker) begunAnew(lockPath string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.number, lockPath)
}

func (o *onlooker) wrong() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.faults
}

func (o *onlooker) paths() map[string]messages.Token {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := map[string]messages.Token{}
	for lockPath, token := range o.tokens {
		all[lockPath] = token
	}
	return all
}
