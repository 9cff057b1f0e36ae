package activation

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/activation"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// pair is an activation that is served, and one that waits on another node, with a message kept.
type pair struct {
	*journal
	a, b          *node
	first, second *actor.PID
}

func newPair(t *testing.T, server *embedded.Server, want messages.Acquire) *pair {
	p := &pair{journal: &journal{}, a: newNode(t, server, "a"), b: newNode(t, server, "b")}
	p.first = p.a.system.Root.Spawn(p.a.props(p.journal, want))
	p.a.send(p.first, work{n: 0})
	synctest.Wait()
	p.second = p.b.spawn(p.journal)
	p.b.send(p.second, work{n: 1})
	time.Sleep(20 * time.Second)
	require.Equal(t, []string{"Started", "0"}, p.served("a"))
	require.Empty(t, p.served("b"))
	return p
}

// TestEnds: however the lock of an actor ends, the actor stops and serves nothing more, and the other
// one is served.
func TestEnds(t *testing.T) {
	for name, end := range map[string]func(*testing.T, *pair, *embedded.Server){
		"expired": func(t *testing.T, p *pair, server *embedded.Server) {
			require.NoError(t, server.Expire(p.a.session.ID()))
		},
		"cut from the servers": func(_ *testing.T, p *pair, _ *embedded.Server) { p.a.line.Be(scene.Down) },
		"session closed": func(t *testing.T, p *pair, _ *embedded.Server) {
			require.NoError(t, p.a.session.Close(t.Context()))
		},
		"session actor stopped": func(_ *testing.T, p *pair, _ *embedded.Server) {
			p.a.system.Root.Stop(p.a.session.PID())
		},
		"broken": func(t *testing.T, p *pair, server *embedded.Server) {
			client := scene.Client(t, server)
			queue, err := client.Queue(t.Context(), path)
			require.NoError(t, err)
			require.NoError(t, client.Break(t.Context(), queue[0]))
		},
		"asked for": func(t *testing.T, p *pair, server *embedded.Server) {
			_, err := scene.Client(t, server).Revoke(t.Context(), path)
			require.NoError(t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, server *embedded.Server) {
				p := newPair(t, server, messages.Acquire{Path: path})
				end(t, p, server)
				for range 40 { // it is asked all the time, but for the moments in which something happens
					synctest.Wait()
					p.a.send(p.first, work{n: 2})
					time.Sleep(time.Second)
				}
				require.False(t, p.a.alive(p.first))
				require.Equal(t, []string{"Started", "1"}, p.served("b"))
				require.Empty(t, p.wrong)
				served := p.served("a")
				require.Equal(t, []string{"Stopping", "Stopped"}, served[len(served)-2:])
				for _, e := range p.entries {
					require.True(t, e.valid || e.message[0] == 'S', "served without a lease: %+v", e)
				}
			})
		})
	}
}

// TestTakenByForce: the grace period of an actor that is asked for its lock is over while it serves.
func TestTakenByForce(t *testing.T) {
	virtually(t, func(t *testing.T, server *embedded.Server) {
		p := newPair(t, server, messages.Acquire{Path: path, Grace: time.Minute})
		for n := range 100 {
			p.a.send(p.first, work{n: 2 + n, lasts: 25 * time.Second})
		}
		_, err := scene.Client(t, server).Revoke(t.Context(), path)
		require.NoError(t, err)
		time.Sleep(time.Minute + time.Second)
		require.Equal(t, []string{"Started", "1"}, p.served("b"))
		require.Empty(t, p.wrong)
		time.Sleep(time.Hour)
		served := p.served("a")
		require.Equal(t, []string{"Started", "0", "2", "3", "4", "Stopping", "Stopped"}, served)
	})
}

// TestSessionClosedWhileWaiting: the actor stops; what was kept is refused.
func TestSessionClosedWhileWaiting(t *testing.T) {
	virtually(t, func(t *testing.T, server *embedded.Server) {
		p := newPair(t, server, messages.Acquire{Path: path})
		asked := p.b.system.Root.RequestFuture(p.second, work{n: 2}, time.Hour)
		synctest.Wait()
		require.NoError(t, p.b.session.Close(t.Context()))
		_, err := asked.Result()
		require.ErrorIs(t, err, actor.ErrDeadLetter)
		synctest.Wait()
		require.False(t, p.b.alive(p.second))
		late := p.b.spawn(p.journal) // over a session that is closed already
		synctest.Wait()
		require.False(t, p.b.alive(late))
		require.Empty(t, p.served("b"))
	})
}

// TestPanics: an actor that its supervisor restarts keeps the lock, and what was kept for it. One that
// panics too often is stopped, and the other one is served.
func TestPanics(t *testing.T) {
	virtually(t, func(t *testing.T, server *embedded.Server) {
		n, j := newNode(t, server, "n"), &journal{}
		holder := scene.Locked(t, scene.Client(t, server).Mutex(path).Lock)
		waits := n.spawn(j)
		for _, message := range []any{work{n: 1}, fail{}, work{n: 2}, fail{}, work{n: 3}} {
			n.send(waits, message)
		}
		synctest.Wait()
		scene.GiveBack(t, holder)
		time.Sleep(time.Minute)
		require.Equal(t, []string{"Started", "1", "Restarting", "Started", "2", "Restarting", "Started", "3"},
			j.served("n"))
		token := j.last(t, "n").token
		for _, e := range j.entries {
			require.Equal(t, token, e.token, "one grant")
			require.True(t, e.valid)
		}
		b := newNode(t, server, "b")
		b.send(b.spawn(j), work{n: 1})
		for range 20 {
			n.send(waits, fail{})
		}
		time.Sleep(time.Minute)
		require.False(t, n.alive(waits))
		require.Equal(t, []string{"Started", "1"}, j.served("b"))
	})
}

// TestPanicsWhileItStops: a panic brings no actor back to life that is to stop, by the loss of its lock or without, and its
// lock is given back.
func TestPanicsWhileItStops(t *testing.T) {
	stopping := func(m any) bool { _, is := m.(*actor.Stopping); return is }
	stop := func(n *node, pid *actor.PID) { n.system.Root.Stop(pid) }
	for name, c := range map[string]struct {
		on     func(message any) bool
		strike func(*node, *actor.PID)
	}{
		"Stopping":           {stopping, stop},
		"Stopped":            {func(m any) bool { _, is := m.(*actor.Stopped); return is }, stop},
		"Stopping, and lost": {stopping, func(n *node, _ *actor.PID) { n.line.Be(scene.Down) }},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, server *embedded.Server) {
				a, b, j := newNode(t, server, "a"), newNode(t, server, "b"), &journal{}
				var panicked atomic.Bool
				pid := a.system.Root.Spawn(actor.PropsFromProducer(func() actor.Actor {
					account := &account{j, "a"}
					return actor.ReceiveFunc(func(ctx actor.Context) {
						if c.on(ctx.Message()) && panicked.CompareAndSwap(false, true) {
							panic("while it stops")
						}
						account.Receive(ctx)
					})
				}, activation.Single(a.session, activation.At(messages.Acquire{Path: path}))))
				synctest.Wait()
				b.send(b.spawn(j), work{n: 1})
				c.strike(a, pid)
				a.send(pid, work{n: 2})
				time.Sleep(time.Minute)
				require.True(t, panicked.Load())
				require.False(t, a.alive(pid))
				require.NotContains(t, j.served("a")[1:], "Started")
				require.Equal(t, []string{"Started", "1"}, j.served("b"))
				require.Empty(t, j.wrong)
			})
		})
	}
}

// TestRestartedWhenItHasStopped: protoactor makes a new incarnation of an actor that stops while it is
// to be restarted, and nobody can reach the new one. It asks for no lock, and is not started.
func TestRestartedWhenItHasStopped(t *testing.T) {
	virtually(t, func(t *testing.T, server *embedded.Server) {
		n, j := newNode(t, server, "n"), &journal{}
		children := make(chan *actor.PID, 2)
		n.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			if _, starts := ctx.Message().(*actor.Started); starts {
				children <- ctx.Spawn(n.props(j, messages.Acquire{Path: path}))
				children <- ctx.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
					if ctx.Message() == "fail" {
						panic("as it was told to")
					}
				}))
			}
		}, actor.WithSupervisor(actor.NewAllForOneStrategy(10, time.Minute, actor.DefaultDecider))))
		account, sibling := <-children, <-children
		n.send(account, work{n: 1, lasts: 10 * time.Second})
		time.Sleep(time.Second)
		n.system.Root.Stop(account)
		n.send(sibling, "fail") // all children are restarted
		time.Sleep(time.Minute)
		require.Equal(t, []string{"Started", "1", "Stopping", "Stopped"}, j.served("n"))
		queue, err := scene.Client(t, server).Queue(t.Context(), path)
		require.NoError(t, err)
		require.Empty(t, queue)
	})
}
