package matrix

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/relists"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// backWithin bounds the time after the servers' return until everybody works again. A session that
// is left behind ends at the first tick after its timeout, and the rest is for connecting.
const backWithin = timeout + 2*time.Second

// estate is a server that is replaced, and its clients, in a bubble.
type estate struct {
	*bubble.Estate
	server *embedded.Server // that there is now
	back   time.Time        // when it came, or began to swap
}

// replacement says how a server is replaced. ghost asks for a lock that the dead hold in a backup.
type replacement struct {
	name string
	// befall ends with the servers' return.
	befall func(t *testing.T, e *estate, ghost kind)
	// keeps is whether the servers that return have the nodes that stay.
	keeps bool
}

// replacements are the replacements after which no older session lives on. After the first two,
// servers refuse clients for ever that have seen a newer transaction.
var replacements = []replacement{
	{"wiped", func(t *testing.T, e *estate, _ kind) {
		e.Vacate()
		time.Sleep(timeout * 2 / 5)
		e.move(newServer(t))
	}, false},
	{"restored", func(t *testing.T, e *estate, ghost kind) {
		old := newServer(t)
		line := &bubble.Network{Server: old}
		dead := openFor(t, line.Dial, old.Connect())
		_, err := ghost(dead).Lock(patient(t))
		require.NoError(t, err)
		e.Vacate()
		time.Sleep(timeout * 2 / 5)
		line.Be(bubble.Down) // its session lives for its timeout more
		e.move(old)
	}, false},
	{"swapped", func(_ *testing.T, e *estate, _ kind) {
		e.back = time.Now()
		e.Swap()
	}, true},
}

// move has another server there from now on.
func (e *estate) move(to *embedded.Server) {
	e.server, e.back = to, time.Now()
	e.Replace(to)
}

func newServer(t *testing.T) *embedded.Server {
	t.Helper()
	return embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(tick))
}

// openFor opens a client that is closed before the bubble ends.
func openFor(t *testing.T, dial func(context.Context, string, string) (net.Conn, error), connect string) *locks.Client {
	t.Helper()
	client, err := locks.Open(patient(t), connect, locks.WithDialer(dial), locks.WithSessionTimeout(timeout))
	require.NoError(t, err)
	relists.Count(t, client.Session())
	t.Cleanup(func() {
		if err := client.Close(patient(t)); !errors.Is(err, locks.ErrSessionRemains) { // the dead cannot say goodbye
			require.NoError(t, err)
		}
		time.Sleep(time.Minute) // the actor system's throttle sleeps on for a while
	})
	return client
}

func (e *estate) open(t *testing.T) *locks.Client { return openFor(t, e.Dial, bubble.EstateAddress) }

// inTime is a context that ends when everybody must work again.
func (e *estate) inTime(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithDeadline(patient(t), e.back.Add(backWithin))
	t.Cleanup(cancel)
	return ctx
}

// works asserts that what has just happened came in time.
func (e *estate) works(t *testing.T, who string) {
	t.Helper()
	took := time.Since(e.back)
	t.Logf("%s works %v after the return", who, took)
	require.LessOrEqual(t, took, backWithin, who)
}

// replaced runs a story for each replacement.
func replaced(t *testing.T, name string, story func(t *testing.T, e *estate, befall replacement)) {
	for _, r := range replacements {
		t.Run(fmt.Sprintf("%s/%s", name, r.name), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t)
				story(t, &estate{Estate: bubble.NewEstate(server), server: server}, r)
			})
		})
	}
}

// TestReplacedServers: a server is wiped, restored from an old backup, or hands out other sessions. A holder, a waiter and
// an idle client of every kind of lock work again by themselves, within the session timeout and two seconds.
func TestReplacedServers(t *testing.T) {
	for _, r := range append([]*recipe{exclusiveLock}, recipes...) {
		if r.once { // TestReplacedServersDowngrade has one
			continue
		}
		replaced(t, r.name, func(t *testing.T, e *estate, befall replacement) {
			front, idle := newPlayerOf(t, e.open(t), r.ahead), newPlayerOf(t, e.open(t), r.subject)
			subject := newPlayerOf(t, e.open(t), r.subject)
			give(t, idle.hold(t))
			before := front.hold(t)
			subject.wait(t)
			synctest.Wait()
			befall.befall(t, e, r.ahead)

			awaitEnd(t, before)
			require.ErrorIs(t, before.Unlock(patient(t)), locks.ErrLost)
			lease := subject.hold(t)
			e.works(t, "who waited")
			require.True(t, lease.Valid())
			give(t, lease)
			for who, kind := range map[*player]kind{front: r.ahead, idle: r.subject} {
				again, err := kind(who.client).Lock(e.inTime(t))
				require.NoError(t, err)
				require.True(t, again.Valid())
				give(t, again)
			}
			e.settled(t, front.client, idle.client, subject.client)
		})
	}
}

func give(t *testing.T, lease *locks.Lease) {
	t.Helper()
	require.NoError(t, unlock(patient(t), lease))
}

// settled: all are ready, and nobody has left anything behind.
func (e *estate) settled(t *testing.T, clients ...*locks.Client) {
	t.Helper()
	for _, c := range clients {
		require.NoError(t, c.Ready())
	}
	time.Sleep(timeout + 2*tick) // for the sessions of before
	require.Len(t, e.server.Sessions(), len(clients), "sessions are left behind")
	queue, err := clients[0].Queue(patient(t), lockPath)
	require.NoError(t, err)
	require.Empty(t, queue)
}

// TestReplacedServersDowngrade: a writer, and the reader that it goes on as, are both lost, and work again.
func TestReplacedServersDowngrade(t *testing.T) {
	replaced(t, "downgrade", func(t *testing.T, e *estate, befall replacement) {
		client := e.open(t)
		for round := range 2 {
			wrote, err := writer(client).Lock(patient(t))
			require.NoError(t, err)
			read, err := reader(client).Lock(wrote.Context())
			require.NoError(t, err)
			if round == 1 {
				e.works(t, "who downgraded")
				give(t, wrote)
				require.True(t, read.Valid())
				give(t, read)
				break
			}
			befall.befall(t, e, writer)
			for _, lost := range []*locks.Lease{wrote, read} {
				awaitEnd(t, lost)
				require.ErrorIs(t, lost.Unlock(patient(t)), locks.ErrLost)
			}
		}
		e.settled(t, client)
	})
}

// TestReplacedServersAll: all parts of All are lost, and can be acquired again.
func TestReplacedServersAll(t *testing.T) {
	replaced(t, "all", func(t *testing.T, e *estate, befall replacement) {
		client := e.open(t)
		var lockers []locks.Locker
		for i, part := range parts {
			lockers = append(lockers, part.kind(pathOf(i))(client))
		}
		leases, err := locks.All(patient(t), lockers...)
		require.NoError(t, err)
		befall.befall(t, e, parts[0].kind(pathOf(0)))
		select {
		case <-leases.Context().Done():
		case <-patient(t).Done():
			t.Fatal("the loss is never told")
		}
		require.ErrorIs(t, leases.Unlock(patient(t)), locks.ErrLost)
		leases, err = locks.All(e.inTime(t), lockers...)
		require.NoError(t, err)
		e.works(t, "who held all")
		require.NoError(t, leases.Unlock(patient(t)))
		e.settled(t, client)
	})
}

// TestReplacedServersElection: a leader loop leads again, another campaigns, and an observer sees
// the leader.
func TestReplacedServersElection(t *testing.T) {
	replaced(t, "election", func(t *testing.T, e *estate, befall replacement) {
		loops, watches := e.open(t), e.open(t)
		election := loops.Election(lockPath)
		ctx, stop := context.WithCancel(patient(t))
		began, ended := make(chan *locks.Leadership, 9), make(chan error, 1)
		go func() {
			ended <- election.Run(ctx, "loop:80", func(ctx context.Context, term *locks.Leadership) error {
				began <- term
				<-ctx.Done()
				return nil
			})
		}()
		first := <-began
		told, err := watches.Election(lockPath).Observe(ctx)
		require.NoError(t, err)
		require.Equal(t, "loop:80", (<-told).Value)

		befall.befall(t, e, mutex)
		second := <-began
		e.works(t, "the leader loop")
		require.False(t, first.Valid())
		require.True(t, second.Valid())
		leader, err := watches.Election(lockPath).Leader(e.inTime(t))
		require.NoError(t, err)
		require.Equal(t, "loop:80", leader.Value)
		e.works(t, "who asks")
		for leader := range told {
			if leader.Value == "loop:80" && leader.Token == second.Token() {
				break
			}
		}
		e.works(t, "who observes")
		stop()
		<-ended
		e.settled(t, loops, watches)
	})
}

// TestReplacedServersGroup: a member joins again, and watchers see it.
func TestReplacedServersGroup(t *testing.T) {
	replaced(t, "group", func(t *testing.T, e *estate, befall replacement) {
		joins, watches := e.open(t), e.open(t)
		member, err := joins.Group(lockPath).Join(patient(t), "one:80")
		require.NoError(t, err)
		told, err := watches.Group(lockPath).Watch(patient(t))
		require.NoError(t, err)
		was := member.ID()
		require.Equal(t, was, (<-told)[0].ID)

		befall.befall(t, e, reader)
		for members := range told {
			if len(members) == 1 && members[0].Data == "one:80" && members[0].ID != was {
				break
			}
		}
		e.works(t, "who watches")
		require.Equal(t, "one:80", onlyMember(t, e, watches).Data)
		require.Equal(t, member.ID(), onlyMember(t, e, watches).ID)
		require.NoError(t, member.Leave(patient(t)))
		e.settled(t, joins, watches)
	})
}

func onlyMember(t *testing.T, e *estate, client *locks.Client) locks.Member {
	t.Helper()
	members, err := client.Group(lockPath).Members(e.inTime(t))
	require.NoError(t, err)
	require.Len(t, members, 1)
	return members[0]
}

// job is the work of RunOnce.
type job = func(context.Context, locks.Token) error

// did is work that has nothing to do.
func did(context.Context, locks.Token) error { return nil }

// turn has the servers replaced while work is under way and somebody waits for the turn. The work is
// told that it has lost the lock. It returns the outcome of the wait.
func (e *estate) turn(t *testing.T, befall replacement, works func(job) (locks.Once, error),
	waits func() (locks.Once, error)) locks.Once {
	t.Helper()
	under, lost := make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := works(func(ctx context.Context, _ locks.Token) error {
			close(under)
			<-ctx.Done()
			return context.Cause(ctx)
		})
		lost <- err
	}()
	<-under
	type turn struct {
		locks.Once
		err error
	}
	next := make(chan turn, 1)
	go func() {
		once, err := waits()
		next <- turn{once, err}
	}()
	synctest.Wait()
	befall.befall(t, e, mutex)

	require.ErrorIs(t, <-lost, locks.ErrLost)
	got := <-next
	e.works(t, "who waited for its turn")
	require.NoError(t, got.err)
	return got.Once
}

// TestReplacedServersRunOnce: work that is under way is told that it has lost the lock, and leaves
// no mark. A replica that waits for its turn runs.
func TestReplacedServersRunOnce(t *testing.T) {
	replaced(t, "run-once", func(t *testing.T, e *estate, befall replacement) {
		works, waits := e.open(t), e.open(t)
		got := e.turn(t, befall, func(work job) (locks.Once, error) {
			return locks.RunOnce(patient(t), works, lockPath, time.Hour, work)
		}, func() (locks.Once, error) {
			return locks.RunOnce(patient(t), waits, lockPath, time.Hour, did, locks.WithWaiting())
		})
		require.Equal(t, locks.OnceRan, got.Outcome)
		again, err := locks.RunOnce(e.inTime(t), works, lockPath, time.Hour,
			func(context.Context, locks.Token) error { return errors.New("it is not due") })
		require.NoError(t, err)
		require.Equal(t, locks.OnceNotDue, again.Outcome)
		require.Equal(t, got.Mark, again.Mark)
		e.settled(t, works, waits)
	})
}

// TestReplacedServersRunOnceFor: work that is under way for an instant is told that it has lost the
// lock. Where the servers know that it was begun, a replica that waits for its turn leaves it
// alone, and only one WithRetryAfter runs it. Where they do not, a waiting replica runs it.
// Afterwards it is done for this instant, and the next instant runs as ever.
func TestReplacedServersRunOnceFor(t *testing.T) {
	replaced(t, "run-once-for", func(t *testing.T, e *estate, befall replacement) {
		works, waits := e.open(t), e.open(t)
		instant := time.Now().Truncate(time.Minute)
		got := e.turn(t, befall, func(work job) (locks.Once, error) {
			return locks.RunOnceFor(patient(t), works, lockPath, instant, work)
		}, func() (locks.Once, error) {
			return locks.RunOnceFor(patient(t), waits, lockPath, instant, did, locks.WithWaiting())
		})
		require.True(t, got.Mark.For.Equal(instant), got.Mark)
		tried, err := locks.RunOnceFor(e.inTime(t), works, lockPath, instant, did, locks.WithRetryAfter(0))
		require.NoError(t, err)
		if befall.keeps {
			require.Equal(t, locks.OnceAlreadyRan, got.Outcome)
			require.Equal(t, locks.MarkBegun, got.Mark.State)
			require.Equal(t, locks.OnceRan, tried.Outcome)
		} else {
			require.Equal(t, locks.OnceRan, got.Outcome)
			require.Equal(t, locks.OnceAlreadyRan, tried.Outcome)
			require.Equal(t, got.Mark, tried.Mark)
		}
		require.Equal(t, locks.MarkDone, tried.Mark.State)

		again, err := locks.RunOnceFor(patient(t), waits, lockPath, instant,
			func(context.Context, locks.Token) error { return errors.New("it has run") })
		require.NoError(t, err)
		require.Equal(t, locks.OnceAlreadyRan, again.Outcome)
		require.Equal(t, tried.Mark, again.Mark)
		after, err := locks.RunOnceFor(patient(t), works, lockPath, instant.Add(time.Minute), did)
		require.NoError(t, err)
		require.Equal(t, locks.OnceRan, after.Outcome)
		e.settled(t, works, waits)
	})
}
