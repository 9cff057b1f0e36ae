package restarts

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// restoredSession is the timeout of sessions whose servers are wiped, restored or swapped.
const restoredSession = 4 * time.Second

// A server whose data are wiped, or restored from an old backup, refuses every client that has seen
// a newer zxid, for ever. Each client comes back by itself: a holder, a waiter, an idle client, a
// leader and a member of a group.
func TestRestoredServer(t *testing.T) {
	rig.Require(t)
	t.Parallel()
	for name, backedUp := range map[string]bool{"wiped": false, "restored": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, backup := rig.StartStandalone(t), ""
			if backedUp {
				backup = filepath.Join(t.TempDir(), "backup")
				lease, err := openShort(t, server.Addr()).Mutex("/before").Lock(patient.Deadline(t))
				require.NoError(t, err)
				require.NoError(t, lease.Unlock(patient.Deadline(t)))
				require.NoError(t, server.Kill())
				require.NoError(t, server.Backup(backup))
				require.NoError(t, server.Restart(patient.Deadline(t)))
			}
			comeBack(t, server, func() error { return server.Restore(patient.Deadline(t), backup) })
		})
	}
}

// openShort opens a client with a short session, which is closed with the test.
func openShort(t *testing.T, connect string) *locks.Client {
	t.Helper()
	return patient.Open(t, connect, locks.WithSessionTimeout(restoredSession))
}

// comeBack has clients of each kind live through what happens to their server, and logs how long after it each works.
func comeBack(t *testing.T, server *rig.Server, happens func() error) {
	holder, waiter := openShort(t, server.Addr()), openShort(t, server.Addr())
	idle, leader := openShort(t, server.Addr()), openShort(t, server.Addr())
	joined := openShort(t, server.Addr())

	held, err := holder.Mutex("/held").Lock(patient.Deadline(t))
	require.NoError(t, err)
	mutex, rec := patient.Recorded(t, waiter, "/held")
	waiting := patient.Elsewhere(patient.Deadline(t), mutex.Lock)
	patient.Await(t, rec, messages.StateWatching)
	leads, err := leader.Election("/lead").Campaign(patient.Deadline(t), "one:80")
	require.NoError(t, err)
	member, err := joined.Group("/members").Join(patient.Deadline(t), "one:80")
	require.NoError(t, err)
	was := member.ID()
	lease, err := idle.Mutex("/idle").Lock(patient.Deadline(t))
	require.NoError(t, err)
	require.NoError(t, lease.Unlock(patient.Deadline(t)))

	require.NoError(t, happens())
	back := time.Now()
	works := func(who string) {
		t.Logf("%s works %.2f T after the return", who, float64(time.Since(back))/float64(restoredSession))
	}
	<-held.Context().Done()
	require.ErrorIs(t, held.Unlock(patient.Deadline(t)), locks.ErrLost)
	got := patient.Receive(t, waiting)
	require.NoError(t, got.Err)
	require.True(t, got.Lease.Valid())
	works("who waited")
	require.NoError(t, got.Lease.Unlock(patient.Deadline(t)))
	held, err = holder.Mutex("/held").Lock(patient.Deadline(t))
	require.NoError(t, err)
	works("who held")
	require.NoError(t, held.Unlock(patient.Deadline(t)))
	lease, err = idle.Mutex("/idle").Lock(patient.Deadline(t))
	require.NoError(t, err)
	works("who was idle")
	require.NoError(t, lease.Unlock(patient.Deadline(t)))
	<-leads.Context().Done()
	leads, err = leader.Election("/lead").Campaign(patient.Deadline(t), "one:80")
	require.NoError(t, err)
	works("who led")
	require.NoError(t, leads.Resign(patient.Deadline(t)))
	patient.Eventually(t, func() bool { return member.ID() != was }, "it never joins again")
	works("who joined")
	require.NoError(t, member.Leave(patient.Deadline(t)))
	for _, client := range []*locks.Client{holder, waiter, idle, leader, joined} {
		require.NoError(t, client.Ready())
	}
}

// A server or a proxy that hands out another session on each reconnect: the epoch ends at once, and the sessions that it
// hands out are closed. All sessions here would last for longer than the test waits, but for that by which the client has
// tried to close its old one: it asked for the shortest.
func TestSwappedSession(t *testing.T) {
	rig.Require(t)
	t.Parallel()
	server := rig.StartStandalone(t, rig.WithMaxSessionTimeout(stories.Longest))
	proxy := rig.NewProxy(t, server.Addr())
	log, logged := stories.NewLog()
	client := patient.Open(t, proxy.Addr(), locks.WithSessionTimeout(stories.Longest), logged)
	held, err := client.Mutex("/held").Lock(patient.Deadline(t))
	require.NoError(t, err)
	before, password, _ := proxy.Session()
	require.Equal(t, 1, sessionsAt(t, server))

	proxy.ForgetSessions(true)
	proxy.Cut()
	cut := time.Now()
	select {
	case <-held.Context().Done():
	case <-time.After(patient.Bound):
		t.Fatal("the epoch goes on though its session was swapped")
	}
	t.Logf("the epoch ended %v after the cut; sessions: %d", time.Since(cut), sessionsAt(t, server))
	require.ErrorIs(t, held.Unlock(patient.Deadline(t)), locks.ErrLost)
	other, err := client.Mutex("/other").Lock(patient.Deadline(t))
	require.NoError(t, err)
	require.NotEqual(t, before, client.Session().ID())
	require.Equal(t, 1, log.Count("as ClickHouse Keeper does"))
	require.True(t, log.Has("error="+zkconn.ErrOtherSession.Error()))
	patient.Eventually(t, func() bool { return sessionsAt(t, server) == 2 }, "sessions are left behind")
	t.Logf("the old session and the new one are all that is left %v after the cut", time.Since(cut))
	require.NoError(t, rig.ExpireSession(patient.Deadline(t), server.Addr(), before, password))
	held, err = client.Mutex("/held").Lock(patient.Deadline(t))
	require.NoError(t, err)
	require.True(t, other.Valid(), "its session is not cut")
	require.NoError(t, held.Unlock(patient.Deadline(t)))
	require.NoError(t, other.Unlock(patient.Deadline(t)))
	patient.Eventually(t, func() bool { return sessionsAt(t, server) == 1 }, "sessions are left behind")
}

// sessionsAt counts the sessions of a server.
func sessionsAt(t *testing.T, server *rig.Server) (count int) {
	t.Helper()
	dump, err := server.Address().FourLetter(patient.Deadline(t), "dump")
	require.NoError(t, err)
	var instants int // at which sessions are due
	_, err = fmt.Sscanf(dump[max(0, strings.Index(dump, "Session Sets")):], "Session Sets (%d)/(%d)", &instants, &count)
	require.NoError(t, err, "%s", dump)
	return count
}
