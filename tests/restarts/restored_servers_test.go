package restarts

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// restoredSession is the timeout of sessions whose servers are wiped or restored.
const restoredSession = 4 * time.Second

// TestRealRestoredServer: a server whose data are wiped, or restored from an old backup, refuses every client that has seen
// a newer zxid, for ever. Each client comes back by itself: a holder, a waiter, an idle client, a leader and a member of a
// group. Ready and State say why a client is refused. Package matrix has how soon they come back.
func TestRealRestoredServer(t *testing.T) {
	rig.Require(t)
	for name, backedUp := range map[string]bool{"wiped": false, "restored": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, backup := rig.StartStandalone(t), ""
			open := func() *locks.Client { return scene.Open(t, server.Addr(), locks.WithSessionTimeout(restoredSession)) }
			if backedUp {
				backup = filepath.Join(t.TempDir(), "backup")
				scene.Cycle(t, open().Mutex("/before"))
				require.NoError(t, server.Kill())
				require.NoError(t, server.Backup(backup))
				require.NoError(t, server.Restart(scene.Deadline(t)))
			}
			holder, waiter, idle, leader, joined := open(), open(), open(), open(), open()
			refused := scene.Open(t, server.Addr()) // for long enough that a slow machine sees why
			held := scene.Locked(t, holder.Mutex("/held").Lock)
			mutex, rec := scene.Recorded(t, waiter, "/held")
			waiting := scene.Elsewhere(scene.Deadline(t), mutex.Lock)
			scene.Await(t, rec, messages.StateWatching)
			leads, err := leader.Election("/lead").Campaign(scene.Deadline(t), "one:80")
			require.NoError(t, err)
			member, err := joined.Group("/members").Join(scene.Deadline(t), "one:80")
			require.NoError(t, err)
			was := member.ID()
			scene.Cycle(t, idle.Mutex("/idle"))
			for range 100 { // it has seen more than the server will have committed by the end
				scene.Cycle(t, refused.Mutex("/refused"))
			}
			require.NoError(t, server.Restore(scene.Deadline(t), backup))

			got := scene.Receive(t, waiting)
			require.NoError(t, got.Err)
			require.True(t, got.Lease.Valid())
			scene.GiveBack(t, got.Lease)
			scene.AwaitLost(t, held)
			scene.Cycle(t, holder.Mutex("/held"))
			scene.Cycle(t, idle.Mutex("/idle"))
			<-leads.Context().Done()
			leads, err = leader.Election("/lead").Campaign(scene.Deadline(t), "one:80")
			require.NoError(t, err)
			require.NoError(t, leads.Resign(scene.Deadline(t)))
			scene.Eventually(t, func() bool { return member.ID() != was }, "it never joins again")
			require.NoError(t, member.Leave(scene.Deadline(t)))
			for _, client := range []*locks.Client{holder, waiter, idle, leader, joined} {
				require.NoError(t, client.Ready())
			}
			scene.Eventually(t, func() bool {
				ready := refused.Ready()
				return ready != nil && strings.Contains(ready.Error(), "its data may be older than what this client has seen")
			}, "Ready never says why it is refused")
			require.ErrorContains(t, refused.State().Cause, "wiped or restored")
		})
	}
}

// TestSwappedSession: a server hands out another session on each reconnect. The epoch ends at once, and the sessions that it
// hands out are closed, but for the new one. The log says so once.
func TestSwappedSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t, embedded.WithSessionTimeouts(time.Second, time.Hour))
		estate := scene.NewEstate(server)
		log, logged := scene.NewLog()
		client := scene.Client(t, server, locks.WithDialer(estate.Dial), locks.WithSessionTimeout(time.Hour), logged)
		held := scene.Locked(t, client.Mutex("/held").Lock)
		estate.Swap()
		<-held.Context().Done()
		require.ErrorIs(t, held.Unlock(t.Context()), locks.ErrLost)
		other := scene.Locked(t, client.Mutex("/other").Lock)
		require.NotEqual(t, held.Session(), other.Session())
		time.Sleep(time.Minute)
		require.ElementsMatch(t, []int64{held.Session(), other.Session()}, server.Sessions())
		require.Equal(t, 1, log.Count("as ClickHouse Keeper does"))
		log.Await(t, "error="+zkconn.ErrOtherSession.Error())
		require.NoError(t, server.Expire(held.Session()))
		held = scene.Locked(t, client.Mutex("/held").Lock)
		require.True(t, other.Valid(), "its session is not cut")
		scene.GiveBack(t, held, other)
	})
}

// TestSuccessorOfAReplacedServer: a holder with a session file is killed, and its server is wiped, restored from a backup, or
// hands out other sessions. Its successor opens, and holds within the session timeout and two seconds of being started,
// whether or not it would take the lock back.
//
//   - Wiped: no server knows the predecessor's session, so there is nothing to close, nothing to take back, and nobody
//     else in the queue.
//   - Restored from a backup in which the predecessor held: its session and its node are there again. The successor
//     closes that session, or takes the node back.
//   - Swapped: the predecessor's session cannot be closed, and lasts until it expires. The successor opens all the same.
func TestSuccessorOfAReplacedServer(t *testing.T) {
	for name, befall := range map[string]func(t *testing.T, e *scene.Estate, server *embedded.Server){
		"wiped": func(t *testing.T, e *scene.Estate, _ *embedded.Server) { e.Replace(scene.Virtual(t)) },
		"restored": func(_ *testing.T, e *scene.Estate, server *embedded.Server) { // the backup is of when the holder died
			e.Vacate()
			time.Sleep(timeout * 2 / 5)
			e.Replace(server)
		},
		"swapped": func(_ *testing.T, e *scene.Estate, _ *embedded.Server) { e.Swap() },
	} {
		for _, key := range []string{"", "me"} {
			t.Run(name+"/"+key, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					server := scene.Virtual(t)
					record, last := abandoned(t, server, "/successor", key)
					record.Connect = scene.EstateAddress
					estate := scene.NewEstate(server)
					befall(t, estate, server)

					began := time.Now()
					client := scene.ClientAt(t, server, scene.EstateAddress, locks.WithSessionFile(leave(t, record)),
						locks.WithDialer(estate.Dial))
					next := scene.Locked(t, client.Mutex("/successor", locks.WithReclaim(key)).Lock)
					require.LessOrEqual(t, time.Since(began), timeout+2*time.Second)
					require.True(t, next.Valid())
					require.NotEqual(t, last.Session(), next.Session())
					scene.GiveBack(t, next)
				})
			})
		}
	}
}
