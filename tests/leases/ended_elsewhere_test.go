package leases

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestEndedElsewhereWhileItReconnects: somebody else ends a holder's session at the moment in which its client reconnects.
// The connection stays, and nothing on it is answered. The client dials anew after a quarter of its session timeout, and
// hears that the session is over, long before its lease would be.
func TestEndedElsewhereWhileItReconnects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, client := scene.Through(t)
		other := scene.Client(t, d.Server)
		lease := scene.Locked(t, client.Mutex("/ended").Lock)
		waits := scene.Elsewhere(t.Context(), other.Mutex("/ended").Lock)
		time.Sleep(time.Minute)
		_, err := d.Server.Inject(embedded.Fault{Session: client.State().ID, Action: embedded.EndBefore})
		require.NoError(t, err)
		d.Outage(0)
		next := scene.Receive(t, waits)
		require.NoError(t, next.Err)
		granted := time.Now()
		<-lease.Context().Done()
		both := time.Since(granted)
		t.Logf("both were valid for %v", both)
		require.Less(t, both, timeout*3/10)
		scene.GiveBack(t, next.Lease)
		scene.Cycle(t, client.Mutex("/ended"))
	})
}

// TestMuteReconnection: what a holder sends behind its reconnect is answered late, at once or after some answers, and the
// session lives. The client dials anew once, and no more while the connection is new. Where the answers come before the
// lease is over, it goes on.
func TestMuteReconnection(t *testing.T) {
	for _, c := range []struct {
		answered, late time.Duration
		valid          bool
	}{
		{0, 3300 * time.Millisecond, true},
		{0, 5500 * time.Millisecond, false},
		{timeout / 8, 3900 * time.Millisecond, true}, // a heartbeat goes out within a sixth, and waits for as long
		{timeout * 2 / 3, 5500 * time.Millisecond, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			d, client := scene.Through(t)
			lease := scene.Locked(t, client.Mutex("/mute").Lock)
			time.Sleep(time.Minute)
			cut := func() { d.Outage(0) } // forgets connections that were open
			if c.answered > 0 {
				cut()
				time.Sleep(c.answered)
				cut = func() {}
			}
			held, err := d.Server.Inject(embedded.Fault{Session: client.State().ID, Action: embedded.HoldReplies, Count: -1})
			require.NoError(t, err)
			cut()
			time.Sleep(c.late)
			require.Equal(t, 2, d.Connected(), "one for the cut, and one for the silence")
			held.Remove()
			held.Release()
			time.Sleep(time.Minute)
			require.Equal(t, c.valid, lease.Valid())
			lease.Release()
			scene.Cycle(t, client.Mutex("/mute"))
		})
	}
}

// TestSlowReconnection: a server that answers, and slowly, is not dialed over and over: once after each reconnection. Once
// it has answered for a session timeout, a mute one is given up again.
func TestSlowReconnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, client := scene.Through(t)
		holds := func() { // anew: the silence is longer than a lease, and a connection is given up for holders alone
			lease := scene.Locked(t, client.Mutex(fmt.Sprintf("/slow/%d", time.Now().Unix())).Lock)
			t.Cleanup(lease.Release)
		}
		holds()
		time.Sleep(time.Minute)
		falls := func() {
			held, err := d.Server.Inject(embedded.Fault{Session: client.State().ID, Action: embedded.HoldReplies, Count: -1})
			require.NoError(t, err)
			time.Sleep(timeout * 2 / 5)
			held.Remove()
			held.Release()
			time.Sleep(time.Second)
		}
		d.Outage(0)
		falls()
		require.Equal(t, 2, d.Connected())
		holds()
		falls()
		require.Equal(t, 2, d.Connected(), "it was dialed anew for being mute")
		holds()
		time.Sleep(time.Minute)
		d.Outage(0)
		falls()
		require.Equal(t, 2, d.Connected())
	})
}
