package gateway

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// replacedSession is the session timeout of a gateway whose server is replaced.
const replacedSession = 10 * time.Second

// The ways in which the server is replaced.
const (
	wiped    = "wiped"
	restored = "restored" // from an old backup, in which a dead session holds the lock that is held now
	swapped  = "swapped"  // it hands out other sessions
)

// replacements are the ways.
var replacements = []string{wiped, restored, swapped}

type kind func(c *locks.Client, path string) locks.Locker

// A gateway's server is wiped or restored, or hands out other sessions. A holder, a waiter and an idle requester of every
// kind of lock work again by themselves, over the same gateway, within the session timeout and two seconds of the
// server's return. Package matrix has this without gateways, and RunOnce, which needs a session.
func TestReplacedServers(t *testing.T) {
	t.Parallel()
	write := func(c *locks.Client, path string) locks.Locker { return c.RWMutex(path) }
	for name, kind := range map[string]struct{ ahead, subject kind }{
		"mutex":     {subject: func(c *locks.Client, path string) locks.Locker { return c.Mutex(path) }},
		"write":     {subject: write},
		"read":      {write, func(c *locks.Client, path string) locks.Locker { return c.RWMutex(path).Reader() }},
		"semaphore": {subject: func(c *locks.Client, path string) locks.Locker { return c.Semaphore(path, 1).Weight(1) }},
		"contest":   {subject: func(c *locks.Client, path string) locks.Locker { return c.Contest(path + "/node") }},
		"cohort":    {subject: func(c *locks.Client, path string) locks.Locker { return c.Mutex(path, locks.WithCohort(4)) }},
		"sticky": {subject: func(c *locks.Client, path string) locks.Locker {
			return c.Mutex(path, locks.WithSticky(time.Minute))
		}},
	} {
		if kind.ahead == nil {
			kind.ahead = kind.subject
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachReplacement(t, func(t *testing.T, r *replacing) { replaced(t, r, kind.ahead, kind.subject) })
		})
	}
}

// eachReplacement runs a test for each way of replacing the server, in a bubble. At the end the session of the gateway
// must be ready.
func eachReplacement(t *testing.T, test func(t *testing.T, r *replacing)) {
	t.Helper()
	for _, how := range replacements {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newReplacing(t, how)
				test(t, r)
				require.NoError(t, r.inside.Ready())
			})
		})
	}
}

// replacing is a gateway whose server is replaced, and its requesters.
type replacing struct {
	how    string // one of replacements
	estate *bubble.Estate
	system *actor.ActorSystem
	inside *locks.Client // of the gateway's session
	pid    *actor.PID
	back   time.Time // when the server came back
}

func newServer(t *testing.T) *embedded.Server {
	return bubble.Server(t)
}

func newReplacing(t *testing.T, how string) *replacing {
	t.Helper()
	estate, system := bubble.NewEstate(newServer(t)), bubble.System(t)
	inside, err := locks.Open(t.Context(), bubble.EstateAddress, locks.WithDialer(estate.Dial),
		locks.WithActorSystem(system), locks.WithSessionTimeout(replacedSession))
	require.NoError(t, err)
	relists.Count(t, inside.Session())
	t.Cleanup(func() { patient.Closed(t, inside.Close(context.WithoutCancel(t.Context()))) })
	pid, err := gateway.Spawn(system, inside.Session(), "gateway")
	require.NoError(t, err)
	return &replacing{how: how, estate: estate, system: system, inside: inside, pid: pid}
}

// requester opens a client over the gateway.
func (r *replacing) requester(t *testing.T) *locks.Client {
	t.Helper()
	client, err := gateway.Open(t.Context(), r.system, gateway.At(r.pid))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close(context.WithoutCancel(t.Context())) })
	return client
}

// befall replaces the server. ghost asks for a lock that a dead session holds in the backup.
func (r *replacing) befall(t *testing.T, ghost func(dead *locks.Client) error) {
	t.Helper()
	switch r.how {
	case wiped:
		r.estate.Vacate()
		time.Sleep(replacedSession * 2 / 5)
		r.estate.Replace(newServer(t))
	case restored:
		old := newServer(t)
		line := &bubble.Network{Server: old}
		dead, err := locks.Open(t.Context(), old.Connect(), locks.WithDialer(line.Dial), locks.WithSessionTimeout(replacedSession))
		require.NoError(t, err)
		relists.Count(t, dead.Session())
		t.Cleanup(func() {
			if err := dead.Close(context.WithoutCancel(t.Context())); !errors.Is(err, locks.ErrSessionRemains) {
				require.NoError(t, err) // its session is over
			}
			time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
		})
		require.NoError(t, ghost(dead))
		r.estate.Vacate()
		time.Sleep(replacedSession * 2 / 5)
		line.Be(bubble.Down) // its session lives for its timeout more
		r.estate.Replace(old)
	case swapped:
		r.estate.Swap()
	}
	r.back = time.Now()
}

// works asserts that what has just happened came in time.
func (r *replacing) works(t *testing.T, who string) {
	t.Helper()
	r.inTime(t, who)
	t.Logf("%s works %v after the return", who, time.Since(r.back))
}

func (r *replacing) inTime(t *testing.T, who string) {
	t.Helper()
	require.LessOrEqual(t, time.Since(r.back), replacedSession+2*time.Second, who)
}

func replaced(t *testing.T, r *replacing, ahead, subject kind) {
	holder, waiter, idle := r.requester(t), r.requester(t), r.requester(t)
	lease := bubble.Locked(t, subject(idle, "/idle").Lock)
	bubble.GiveBack(t, lease)
	held := bubble.Locked(t, ahead(holder, "/held").Lock)
	waiting := patient.Elsewhere(t.Context(), subject(waiter, "/held").Lock)
	synctest.Wait()
	r.befall(t, func(dead *locks.Client) error {
		_, err := ahead(dead, "/held").Lock(t.Context())
		return err
	})
	got := <-waiting
	r.works(t, "the waiter")
	require.NoError(t, got.Err)
	require.False(t, held.Valid(), "two valid leases")
	require.True(t, got.Lease.Valid())
	require.ErrorIs(t, held.Unlock(t.Context()), locks.ErrLost)
	bubble.GiveBack(t, got.Lease)
	for who, again := range map[string]locks.Locker{"the holder": ahead(holder, "/held"), "the idle client": subject(idle, "/idle")} {
		lease := bubble.Locked(t, again.Lock)
		r.works(t, who)
		require.True(t, lease.Valid())
		bubble.GiveBack(t, lease)
	}
}

// A leader loop over the gateway leads again, and a client that asks for the leader is told of it.
func TestReplacedServersElection(t *testing.T) {
	t.Parallel()
	eachReplacement(t, func(t *testing.T, r *replacing) {
		loops, asks := r.requester(t), r.requester(t)
		ctx, stop := context.WithCancel(t.Context())
		began, ended := make(chan *locks.Leadership, 9), make(chan error, 1)
		go func() {
			ended <- loops.Election("/lead").Run(ctx, "loop:80", func(ctx context.Context, term *locks.Leadership) error {
				began <- term
				<-ctx.Done()
				return nil
			})
		}()
		first := <-began
		r.befall(t, func(dead *locks.Client) error {
			_, err := dead.Election("/lead").Campaign(t.Context(), "dead:80")
			return err
		})
		second := <-began
		r.works(t, "the leader loop")
		require.False(t, first.Valid())
		require.True(t, second.Valid())
		leader, err := asks.Election("/lead").Leader(t.Context())
		require.NoError(t, err)
		require.Equal(t, "loop:80", leader.Value)
		r.works(t, "the client that asks")
		stop()
		<-ended
	})
}

// A member that joined over the gateway joins again. After a restore a dead session is a member beside it, until it
// expires.
func TestReplacedServersGroup(t *testing.T) {
	t.Parallel()
	eachReplacement(t, func(t *testing.T, r *replacing) {
		joins, asks := r.requester(t), r.requester(t)
		member, err := joins.Group("/members").Join(t.Context(), "one:80")
		require.NoError(t, err)
		was := member.ID()
		r.befall(t, func(dead *locks.Client) error {
			_, err := dead.Group("/members").Join(t.Context(), "dead:80")
			return err
		})
		for member.ID() == was {
			time.Sleep(100 * time.Millisecond)
			r.inTime(t, "the member")
		}
		r.works(t, "the member")
		for {
			members, err := asks.Group("/members").Members(t.Context())
			require.NoError(t, err)
			r.inTime(t, "the client that asks")
			if len(members) == 1 {
				r.works(t, "the client that asks")
				require.Equal(t, "one:80", members[0].Data)
				require.Equal(t, member.ID(), members[0].ID)
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		require.NoError(t, member.Leave(t.Context()))
	})
}
