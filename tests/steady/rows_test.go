package steady

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/cluster"
	"github.com/asynkron/protoactor-go/remote"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/actors/gateway/grain"
	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// row is something to do, with the operations that it exercises.
type row struct {
	name, of string
	prepare  func(w *world) (do func())
}

var nothing = func(context.Context, locks.Token) error { return nil }

var rows = []row{
	{"a cycle", "locks.Mutex.Lock locks.Lease.Unlock locks.Client.Mutex", func(w *world) func() {
		return func() { w.cycle(w.client.Mutex("/a").Lock) }
	}},
	{"paths that are used once", "", func(w *world) func() {
		n := 0
		do := func() {
			n++
			w.cycle(w.client.Keyed("/keyed").Mutex(fmt.Sprint(n)).Lock)
		}
		for range 4096 + 100 { // so many a session remembers
			do()
		}
		return do
	}},
	{"Release", "locks.Lease.Release locks.Lease.Context locks.Lease.Revoked", func(w *world) func() {
		return func() {
			lease, err := w.client.Mutex("/a").Lock(w.ctx())
			w.ok(err)
			_, _ = lease.Context(), lease.Revoked()
			lease.Release()
		}
	}},
	{"a Lock that is given up", "", func(w *world) func() {
		w.held("/a")
		return func() {
			w.briefly(func(ctx context.Context) {
				_, err := w.client.Mutex("/a").Lock(ctx)
				require.ErrorIs(w.t, err, context.DeadlineExceeded)
			})
		}
	}},
	{"TryLock", "locks.Mutex.TryLock locks.Try", func(w *world) func() {
		w.held("/a")
		return func() {
			_, err := w.client.Mutex("/a").TryLock(w.ctx())
			require.ErrorIs(w.t, err, locks.ErrNotAcquired)
			w.ok(locks.Do(w.ctx(), locks.Try(w.client.Mutex("/b")), nothing))
		}
	}},
	{"hand-overs", "", func(w *world) func() {
		clients := []*locks.Client{w.client, w.open()}
		return func() {
			var all sync.WaitGroup
			for i := range 6 {
				all.Go(func() { w.cycle(clients[i%2].Mutex("/a").Lock) })
			}
			all.Wait()
		}
	}},
	{"options", "", func(w *world) func() {
		reports := w.open(locks.WithUnreleased(time.Hour, func(locks.Unreleased) {}))
		other := w.open()
		return func() {
			w.cycle(reports.Mutex("/a").Lock)
			w.cycle(w.client.Mutex("/sticky", locks.WithSticky(time.Second)).Lock)
			w.cycle(other.Mutex("/sticky").Lock)
			w.cycle(w.client.Mutex("/cohort", locks.WithCohort(4)).Lock)
			w.cycle(w.client.Mutex("/told", locks.WithOnChange(func(locks.Change) {}),
				locks.WithOnLost(func(string, error) {}), locks.WithMaxWaiters(3), locks.WithGrace(time.Second)).Lock)
			w.cycle(w.client.Mutex("/reclaimed", locks.WithReclaim("me")).Lock)
			lease, err := w.client.Mutex("/short", locks.WithMaxHold(2*time.Second)).Lock(w.ctx())
			w.ok(err)
			w.briefly(func(ctx context.Context) {
				_, err := w.client.Mutex("/short", locks.WithDeadlockDetection("/", 300*time.Millisecond)).Lock(ctx)
				require.Error(w.t, err)
			})
			<-lease.Context().Done()
			lease.Release()
			w.ok(locks.Do(w.ctx(), w.client.Mutex("/again"), func(ctx context.Context, _ locks.Token) error {
				return locks.Do(ctx, w.client.Mutex("/again", locks.WithReentry()), nothing)
			}))
		}
	}},
	{"RWMutex", "locks.RWMutex.Lock locks.RWMutex.RLock locks.RWMutex.TryLock locks.RWMutex.TryRLock locks.RWMutex.Reader" +
		" locks.Lease.Downgrade locks.Client.RWMutex", func(w *world) func() {
		m := w.client.RWMutex("/rw")
		return func() {
			w.cycle(m.RLock)
			w.cycle(m.TryLock)
			w.cycle(m.TryRLock)
			w.ok(locks.Do(w.ctx(), m.Reader(), nothing))
			writes, err := m.Lock(w.ctx())
			w.ok(err)
			reads, err := writes.Downgrade(w.ctx())
			w.ok(err)
			w.ok(reads.Unlock(w.ctx()))
		}
	}},
	{"Semaphore", "locks.Semaphore.Acquire locks.Semaphore.TryAcquire locks.Semaphore.Weight locks.Client.Semaphore",
		func(w *world) func() {
			s := w.client.Semaphore("/s", 3)
			return func() {
				two, err := s.Acquire(w.ctx(), 2)
				w.ok(err)
				_, err = s.TryAcquire(w.ctx(), 2)
				require.ErrorIs(w.t, err, locks.ErrNotAcquired)
				w.ok(locks.Do(w.ctx(), s.Weight(1), nothing))
				w.ok(two.Unlock(w.ctx()))
			}
		}},
	{"Contest", "locks.Contest.Lock locks.Contest.TryLock locks.Client.Contest", func(w *world) func() {
		return func() {
			lease, err := w.client.Contest("/c").Lock(w.ctx())
			w.ok(err)
			_, err = w.client.Contest("/c").TryLock(w.ctx())
			require.ErrorIs(w.t, err, locks.ErrNotAcquired)
			w.briefly(func(ctx context.Context) { _, err = w.client.Contest("/c").Lock(ctx) })
			require.ErrorIs(w.t, err, context.DeadlineExceeded)
			w.ok(lease.Unlock(w.ctx()))
		}
	}},
	{"All", "locks.All locks.Leases.Context locks.Leases.Unlock locks.Leases.Release", func(w *world) func() {
		return func() {
			for _, end := range []func(*locks.Leases){
				func(l *locks.Leases) { w.ok(l.Unlock(w.ctx())) }, (*locks.Leases).Release} {
				leases, err := locks.All(w.ctx(), w.client.Mutex("/a"), w.client.Mutex("/b"))
				w.ok(err)
				_ = leases.Context()
				end(leases)
			}
		}
	}},
	{"Do", "locks.Do", func(w *world) func() {
		return func() { w.ok(locks.Do(w.ctx(), w.client.Mutex("/a"), nothing)) }
	}},
	{"Keyed", "locks.Client.Keyed locks.Keyed.Lock locks.Keyed.TryLock locks.Keyed.Mutex locks.Keyed.ByName locks.Named.Lock" +
		" locks.Named.TryLock locks.Named.Unlock locks.OneKey.Lock locks.OneKey.Unlock locks.OneKey.SessionLock" +
		" locks.OneKey.SessionUnlock", func(w *world) func() {
		keyed := w.client.Keyed("/keyed")
		named := keyed.ByName()
		one := locks.OneKey[int]{Locks: named, Key: "a"}
		return func() {
			lock := func(ctx context.Context) (*locks.Lease, error) { return keyed.Lock(ctx, "a") }
			w.cycle(lock)
			lock = func(ctx context.Context) (*locks.Lease, error) { return keyed.TryLock(ctx, "a") }
			w.cycle(lock)
			w.cycle(keyed.Mutex("a").Lock)
			w.ok(named.Lock(w.ctx(), "a"))
			_, err := named.TryLock(w.ctx(), "a")
			w.ok(err)
			w.ok(named.Unlock(w.ctx(), "a"))
			w.ok(one.Lock(w.ctx(), 0))
			w.ok(one.Unlock(w.ctx(), 0))
			w.ok(one.SessionLock(w.ctx(), 0))
			w.ok(one.SessionUnlock(w.ctx(), 0))
		}
	}},
	{"RunOnce", "locks.RunOnce locks.RunOnceFor locks.AckWith", func(w *world) func() {
		scene.WritePlace(w.t, w.client)
		ack := func(ctx context.Context, _ locks.Token) error {
			return locks.AckWith(ctx, locks.Set(scene.Place, nil, -1))
		}
		return func() {
			_, err := locks.RunOnce(w.ctx(), w.client, "/once", time.Millisecond, ack)
			w.ok(err)
			_, err = locks.RunOnceFor(w.ctx(), w.client, "/for", time.Now(), ack)
			w.ok(err)
			time.Sleep(time.Second)
		}
	}},
	{"Campaign", "locks.Client.Election locks.Election.Campaign locks.Leadership.Resign locks.Leadership.Proclaim" +
		" locks.Election.Leader", func(w *world) func() {
		e := w.client.Election("/e")
		return func() {
			lead, err := e.Campaign(w.ctx(), "me")
			w.ok(err)
			_, err = e.Leader(w.ctx())
			w.ok(err)
			w.ok(errors.Join(lead.Proclaim(w.ctx(), "ready"), lead.Resign(w.ctx())))
		}
	}},
	{"Run", "locks.Election.Run", func(w *world) func() {
		return func() {
			w.ok(w.client.Election("/e").Run(w.ctx(), "me", func(context.Context, *locks.Leadership) error { return nil }))
		}
	}},
	{"Observe, each time at another path", "locks.Election.Observe", func(w *world) func() {
		n := 0
		return func() {
			n++
			w.briefly(func(ctx context.Context) {
				leaders, err := w.client.Election(fmt.Sprintf("/e/%d", n)).Observe(ctx)
				w.ok(err)
				for range leaders {
				}
			})
		}
	}},
	{"Group", "locks.Client.Group locks.Group.Join locks.Group.Members locks.Membership.Done locks.Membership.Leave",
		func(w *world) func() {
			return func() {
				member, err := w.client.Group("/g").Join(w.ctx(), "me")
				w.ok(err)
				_ = member.Done()
				_, err = w.client.Group("/g").Members(w.ctx())
				w.ok(err)
				w.ok(member.Leave(w.ctx()))
			}
		}},
	{"Group.Watch, each time at another path", "locks.Group.Watch", func(w *world) func() {
		n := 0
		return func() {
			n++
			w.briefly(func(ctx context.Context) {
				members, err := w.client.Group(fmt.Sprintf("/g/%d", n)).Watch(ctx)
				w.ok(err)
				for range members {
				}
			})
		}
	}},
	{"ObservePermits", "locks.Client.ObservePermits", func(w *world) func() {
		n := 0
		return func() {
			n++
			w.briefly(func(ctx context.Context) {
				path := fmt.Sprintf("/permits/%d", n%2) // one exists, and one does not
				if n == 1 {
					w.ok(w.client.SetPermits(w.ctx(), path, 3))
				}
				permits, err := w.client.ObservePermits(ctx, path)
				w.ok(err)
				for range permits {
				}
			})
		}
	}},
	{"queries", "locks.Client.Queue locks.Client.Locks locks.Client.Missing locks.Client.Deadlocks locks.Client.PossibleDeadlocks" +
		" locks.Client.Revoke locks.Client.SetPermits locks.Client.Permits", func(w *world) func() {
		w.held("/q/held", locks.WithGrace(time.Hour))
		return func() {
			for _, ask := range []func() error{
				func() error { _, err := w.client.Queue(w.ctx(), "/q/held"); return err },
				func() error { _, err := w.client.Locks(w.ctx(), "/"); return err },
				func() error { _, err := w.client.Missing(w.ctx(), "/q/none"); return err },
				func() error { _, err := w.client.Deadlocks(w.ctx(), "/"); return err },
				func() error { _, _, err := w.client.PossibleDeadlocks(w.ctx(), "/"); return err },
				func() error { return w.client.SetPermits(w.ctx(), "/q/s", 3) },
				func() error { _, err := w.client.Permits(w.ctx(), "/q/s"); return err },
			} {
				w.ok(ask())
			}
			lease, err := w.client.Mutex("/q/asked").Lock(w.ctx())
			w.ok(err)
			_, err = w.client.Revoke(w.ctx(), "/q/asked")
			w.ok(err)
			<-lease.Revoked()
			w.ok(lease.Unlock(w.ctx()))
		}
	}},
	{"Break", "locks.Client.Break", func(w *world) func() {
		return func() {
			lease, err := w.client.Mutex("/a").Lock(w.ctx())
			w.ok(err)
			all, err := w.client.Queue(w.ctx(), "/a")
			w.ok(err)
			w.ok(w.client.Break(w.ctx(), all[0]))
			<-lease.Context().Done()
			lease.Release()
		}
	}},
	{"Txn", "locks.Lease.Txn locks.Lease.Get actors.Session.Transact actors.Session.Read", func(w *world) func() {
		scene.WritePlace(w.t, w.client)
		return func() {
			lease, err := w.client.Mutex("/a").Lock(w.ctx())
			w.ok(err)
			_, err = lease.Txn(w.ctx(), locks.Set(scene.Place, []byte("x"), -1))
			w.ok(err)
			_, _, err = lease.Get(w.ctx(), scene.Place)
			w.ok(err)
			w.ok(lease.Unlock(w.ctx()))
		}
	}},
	{"Open", "locks.Open locks.Client.Close actors.StartSession actors.Session.Close actors.Session.Ready", func(w *world) func() {
		return func() {
			client, err := locks.Open(w.ctx(), w.server.Connect(), locks.WithActorSystem(w.system), locks.WithDialer(w.server.DialContext))
			w.ok(err)
			w.cycle(client.Mutex("/a").Lock)
			_, err = client.Group("/g").Watch(w.ctx())
			w.ok(err)
			w.ok(client.Close(w.ctx()))
		}
	}},
	{"Open, refused", "", func(w *world) func() {
		return func() {
			w.briefly(func(ctx context.Context) {
				line := &scene.Network{Server: w.server}
				line.Be(scene.Down)
				_, err := locks.Open(ctx, w.server.Connect(), locks.WithActorSystem(w.system), locks.WithDialer(line.Dial))
				require.Error(w.t, err)
			})
		}
	}},
	{"a connection that is cut", "", func(w *world) func() {
		w.keepLock()
		return func() {
			w.line.Be(scene.Down)
			time.Sleep(time.Second)
			w.line.Be(scene.Up)
			time.Sleep(5 * time.Second)
		}
	}},
	{"a session that expires", "", func(w *world) func() {
		client := w.open()
		return func() {
			member, err := client.Group("/g").Join(w.ctx(), "me")
			w.ok(err)
			w.ok(w.server.Expire(client.Session().ID()))
			time.Sleep(5 * time.Second)
			w.ok(member.Leave(w.ctx()))
		}
	}},

	{"NewLock", "actors.NewLock actors.Session.NewLock actors.Session.SpawnLock", func(w *world) func() {
		owner := w.system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
		return func() {
			w.spawn(actors.NewLock(w.session, messages.Acquire{Path: "/a"}, actors.WithObserver(w.observe), actors.WithOwner(owner)))
		}
	}},
	{"NewSingleton", "actors.NewSingleton", func(w *world) func() {
		return func() { w.singleton(w.session) }
	}},
	{"an actor that follows sessions", "", func(w *world) func() {
		follower := w.system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
		return func() {
			session, err := actors.StartSession(w.system, w.config())
			w.ok(err)
			w.ok(session.Ready(w.ctx()))
			w.system.Root.RequestWithCustomSender(session.PID(), &messages.Follow{Path: "/a"}, follower)
			time.Sleep(time.Second)
			w.ok(session.Close(w.ctx()))
		}
	}},
	{"actors that follow", "", func(w *world) func() {
		w.held("/a")
		return func() {
			follower := w.system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
			w.system.Root.RequestWithCustomSender(w.session.PID(), &messages.Follow{Path: "/a"}, follower)
			time.Sleep(time.Second)
			w.stopped(follower)
		}
	}},
	{"Ask", "actors.Session.Ask inspect.Dispatcher.Ask inspect.Dispatcher.Withdraw", func(w *world) func() {
		return func() {
			_, err := w.session.Ask(w.ctx(), &messages.ReadInside{Root: "/"})
			w.ok(err)
			w.line.Be(scene.Down)
			w.briefly(func(ctx context.Context) { _, err = w.session.Ask(ctx, &messages.ReadQueue{Path: "/a"}) })
			require.ErrorIs(w.t, err, context.DeadlineExceeded)
			w.line.Be(scene.Up)
			time.Sleep(5 * time.Second)
		}
	}},
	{"BeforeClose", "actors.Session.BeforeClose", func(w *world) func() {
		return func() { w.session.BeforeClose(func() {})() }
	}},

	{"inspect", "inspect.Break inspect.Deadlocks inspect.Locks inspect.Missing inspect.PossibleDeadlocks inspect.Queue" +
		" inspect.Revoke inspect.RevokeOne inspect.SetPermits", func(w *world) func() {
		conn := scene.Dial(w.t, w.server.Connect(), zkconn.WithDialer(w.server.DialContext), zkconn.WithSessionTimeout(w.timeout))
		return func() {
			lease, err := w.client.Mutex("/i/a").Lock(w.ctx())
			w.ok(err)
			all, err := inspect.Queue(conn, "/i/a")
			w.ok(err)
			_, one := inspect.Deadlocks(conn, "/")
			_, two := inspect.Locks(conn, "/")
			_, three := inspect.Missing(conn, "/none")
			_, _, four := inspect.PossibleDeadlocks(conn, "/")
			_, five := inspect.Revoke(conn, "/i/a")
			w.ok(errors.Join(one, two, three, four, five, inspect.SetPermits(conn, "/i/s", 2)))
			_, six := inspect.RevokeOne(conn, all[0])
			w.ok(errors.Join(six, inspect.Break(conn, all[0])))
			<-lease.Context().Done()
			lease.Release()
		}
	}},

	{"gateway.Open", "gateway.Open gateway.At locks.NewClient", func(w *world) func() {
		at := w.gateway()
		return func() {
			client, err := gateway.Open(w.ctx(), w.system, gateway.At(at))
			w.ok(err)
			w.cycle(client.Mutex("/a").Lock)
			w.ok(client.Close(w.ctx()))
		}
	}},
	{"locks over a gateway", "gateway.Gateways.NewLock gateway.NewLock", func(w *world) func() {
		client := w.overGateway()
		at := gateway.At(w.gateway())
		owner := w.system.Root.Spawn(actor.PropsFromFunc(func(actor.Context) {}))
		return func() {
			w.cycle(client.Mutex("/a").Lock)
			_, err := client.Queue(w.ctx(), "/a")
			w.ok(err)
			w.spawn(at.NewLock(messages.Acquire{Path: "/a"}, actors.WithObserver(w.observe), actors.WithOwner(owner)))
		}
	}},
	{"a lock over a gateway that is given up", "", func(w *world) func() {
		w.held("/a")
		client := w.overGateway()
		return func() {
			w.briefly(func(ctx context.Context) {
				_, err := client.Mutex("/a").Lock(ctx)
				require.ErrorIs(w.t, err, context.DeadlineExceeded)
			})
		}
	}},
	{"gateways that end", "gateway.Spawn gateway.New gateway.Kind gateway.Find", func(w *world) func() {
		return func() {
			pid, err := gateway.Spawn(w.system, w.session, "gateway")
			w.ok(err)
			at := gateway.Find(func(context.Context, string, bool) *actor.PID { return pid })
			w.spawn(at.NewLock(messages.Acquire{Path: "/a"}, actors.WithObserver(w.observe)))
			w.stopped(pid)
			w.stopped(w.system.Root.Spawn(gateway.Kind(w.session).Props))
		}
	}},
	{"gateway.NewSingleton", "gateway.NewSingleton", func(w *world) func() {
		at := gateway.At(w.gateway())
		return func() { w.singleton(at) }
	}},
	{"grains", "grain.Kind", func(w *world) func() {
		props := cluster.WithClusterIdentity(grain.Kind(w.session).Props, cluster.NewClusterIdentity("/a", grain.KindName))
		cluster.New(w.system, cluster.Configure("c", nil, nil, remote.Configure("127.0.0.1", 0))) // grains ask for it, and it need not run
		return func() {                                                                           // idle, it ends by itself
			pid := w.system.Root.Spawn(props)
			w.spawn(gateway.NewLock(gateway.At(pid), messages.Acquire{Path: "/a"}, actors.WithObserver(w.observe)))
		}
	}},
}

// keepNothing are the operations that no row counts, and why.
var keepNothing = map[string]string{
	"they read what is known": `locks.InstantOf locks.LeaseOf locks.MayPass locks.Client.Ready locks.Client.Session
		locks.Client.State locks.Client.System locks.DeadlockError.Error locks.DeadlockError.Unwrap locks.Error.Error
		locks.Error.Unwrap locks.Election.Health locks.Election.IsLeader locks.Keyed.Path locks.Leadership.Value
		locks.Lease.Deadline locks.Lease.Node locks.Lease.Path locks.Lease.Session locks.Lease.Token locks.Lease.Valid
		locks.Leases.Deadline locks.Leases.Each locks.Leases.Valid locks.Mark.String locks.Membership.Err locks.Membership.ID
		locks.Named.Lease
		actors.CheckAcquire actors.Activation.Deadline actors.Activation.Valid actors.Connection.Ready actors.FastPaths
		actors.Session.Absolute actors.Session.Clock actors.Session.Connection
		actors.Session.Counters actors.Session.Err actors.Session.Explain actors.Session.HasFile actors.Session.ID
		actors.Session.Figures actors.Session.MaxWaiting actors.Session.PID actors.Session.Servers actors.Session.Timeout
		actors.Session.Told
		inspect.Check inspect.CheckRoot inspect.Describe inspect.IsQuery inspect.DeadlockProbed.IgnoreDeadLetterLogging
		gateway.Gateways.Clock gateway.Gateways.Timeout grain.Path`,
	"a client calls it once": `actors.Session.AskInside`,
	"they make a value":      `locks.Check locks.Create locks.CreateSequential locks.Delete locks.Set grain.At`,
	"the session actor calls them, for queries and followers": `inspect.NewDispatcher inspect.Dispatcher.Changed
		inspect.Dispatcher.Close inspect.Dispatcher.Connected inspect.Dispatcher.Disconnected inspect.Dispatcher.EpochEnded
		inspect.Dispatcher.Follow inspect.Dispatcher.Followed inspect.Dispatcher.Unfollow`,
}

// keepLock has the client hold a lock, another client wait for it, and both watch a queue.
func (w *world) keepLock() {
	_, err := w.client.Mutex("/kept").Lock(w.ctx())
	w.ok(err)
	other := w.open()
	ctx, cancel := context.WithCancel(w.ctx())
	ended := make(chan struct{})
	go func() { defer close(ended); _, _ = other.Mutex("/kept").Lock(ctx) }()
	_, err = other.Group("/watched").Watch(ctx)
	w.ok(err)
	w.t.Cleanup(func() { cancel(); <-ended })
}

// singleton runs a singleton until it is active.
func (w *world) singleton(from actors.Provider) {
	active := make(chan struct{}, 1)
	child := actor.PropsFromFunc(func(ctx actor.Context) {
		if _, is := ctx.Message().(*actors.Activation); is {
			active <- struct{}{}
		}
	})
	pid := w.system.Root.Spawn(actors.NewSingleton(from, messages.Acquire{Path: "/single"}, child))
	<-active
	w.stopped(pid)
}
