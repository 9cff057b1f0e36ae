package restarts

import (
	"context"
	"net"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// A holder with a session file is killed, and its server is wiped, restored from a backup, or hands out other sessions.
// Its successor opens, and holds within the session timeout and two seconds of being started, whether or not it would
// take the lock back.
//
//   - Wiped: no server knows the predecessor's session, so there is nothing to close, nothing to take back, and nobody
//     else in the queue.
//   - Restored from a backup in which the predecessor held: its session and its node are there again. The successor
//     closes that session, or takes the node back.
//   - Swapped: the predecessor's session cannot be closed, and lasts until it expires. The successor opens all the same.
func TestSuccessorOfAReplacedServer(t *testing.T) {
	for name, befall := range map[string]func(t *testing.T) (connect string, befall func()){
		"wiped": func(t *testing.T) (string, func()) {
			server, err := embedded.Start(embedded.WithTick(time.Second))
			require.NoError(t, err)
			return server.Connect(), func() {
				addr := server.Addr()
				server.Close()
				embedded.Run(t, embedded.WithTick(time.Second), embedded.WithListen(addr))
			}
		},
		"swapped": func(t *testing.T) (string, func()) {
			server := embedded.Run(t, embedded.WithTick(time.Second))
			proxy := rig.NewProxy(t, server.Addr())
			return proxy.Addr(), func() { proxy.ForgetSessions(true) }
		},
		"real, restored": func(t *testing.T) (string, func()) {
			rig.Require(t)
			server, backup := rig.StartStandalone(t), filepath.Join(t.TempDir(), "backup")
			return server.Addr(), func() {
				require.NoError(t, server.Kill())
				require.NoError(t, server.Backup(backup))
				require.NoError(t, server.Restore(patient.Deadline(t), backup))
			}
		},
	} {
		for _, label := range []string{"", "me"} {
			t.Run(name+"/"+label, func(t *testing.T) {
				t.Parallel()
				connect, befall := befall(t)
				r := reclaimer{connect, "/successor", sessionFile(t), label, restoredSession}
				p := r.start(t)
				p.opened(t)
				last := p.holds(t)
				require.NoError(t, p.Kill())
				befall()

				back := time.Now()
				p = r.start(t)
				p.opened(t)
				opened := time.Since(back)
				next := p.holds(t)
				t.Logf("it opened after %v and held after %v", opened, time.Since(back))
				require.NotEqual(t, last.session, next.session)
				require.Less(t, time.Since(back), restoredSession+2*time.Second+ofTheMachine)
				p.gives(t)
			})
		}
	}
}

// ofTheMachine is the time that a process may take to start, and a session to expire, on a busy machine.
// TestSuccessorOfAReplacedServerIsInTime needs none.
const ofTheMachine = 20 * time.Second

// TestSuccessorOfAReplacedServerIsInTime has the same in a bubble, where time does not depend on the machine: the
// successor holds within the session timeout and two seconds of its start.
func TestSuccessorOfAReplacedServerIsInTime(t *testing.T) {
	const timeout = 10 * time.Second
	newServer := func(t *testing.T) *embedded.Server {
		return bubble.Server(t)
	}
	for name, befall := range map[string]func(t *testing.T, e *bubble.Estate, server *embedded.Server){
		"wiped": func(t *testing.T, e *bubble.Estate, _ *embedded.Server) { e.Replace(newServer(t)) },
		"restored": func(_ *testing.T, e *bubble.Estate, server *embedded.Server) { // the backup is of when the holder died
			e.Vacate()
			time.Sleep(timeout * 2 / 5)
			e.Replace(server)
		},
		"swapped": func(_ *testing.T, e *bubble.Estate, _ *embedded.Server) { e.Swap() },
	} {
		for _, label := range []string{"", "me"} {
			t.Run(name+"/"+label, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					server := newServer(t)
					network, file, left := &bubble.Network{Server: server}, sessionFile(t), sessionFile(t)
					open := func(dial func(context.Context, string, string) (net.Conn, error), file string) *locks.Client {
						client, err := locks.Open(t.Context(), bubble.EstateAddress, locks.WithDialer(dial),
							locks.WithSessionFile(file), locks.WithSessionTimeout(timeout))
						require.NoError(t, err)
						bubble.CloseLater(t, client)
						return client
					}
					path := "/successor"
					last := bubble.Locked(t, open(network.Dial, file).Mutex(path, locks.WithReclaim(label)).Lock)
					time.Sleep(time.Minute)
					network.Be(bubble.Down) // it is dead
					leave(t, left, copied(t, file))
					estate := bubble.NewEstate(server)
					befall(t, estate, server)

					began := time.Now()
					client := open(estate.Dial, left)
					opened := time.Since(began)
					next := bubble.Locked(t, client.Mutex(path, locks.WithReclaim(label)).Lock)
					t.Logf("it opened after %v and held after %v", opened, time.Since(began))
					require.LessOrEqual(t, time.Since(began), timeout+2*time.Second)
					require.True(t, next.Valid())
					require.NotEqual(t, last.Session(), next.Session())
					bubble.GiveBack(t, next)
				})
			})
		}
	}
}
