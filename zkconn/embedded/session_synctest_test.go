package embedded_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// silent is a logger for a client that has nothing to say to a test's output.
type silent struct{}

func (silent) Printf(string, ...any) {}

// goZK connects a whole go-zookeeper client to replicas without the network; all of them when none is
// named.
func goZK(t testing.TB, s *embedded.Server, timeout time.Duration, replicas ...int) (*zk.Conn, <-chan zk.Event) {
	t.Helper()
	addrs := s.Addrs()
	if len(replicas) > 0 {
		addrs = nil
	}
	for _, i := range replicas {
		addrs = append(addrs, s.Replica(i).Addr())
	}
	conn, events, err := zk.Connect(addrs, timeout, zk.WithDialer(s.Dialer()), zk.WithLogger(silent{}))
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	return conn, events
}

// awaitState waits until a client says that it is in a state.
func awaitState(t testing.TB, events <-chan zk.Event, want zk.State) {
	t.Helper()
	limit := time.After(patience)
	for {
		select {
		case event := <-events:
			if event.Type == zk.EventSession && event.State == want {
				return
			}
		case <-limit:
			require.FailNow(t, "the client was never "+want.String())
		}
	}
}

// In a bubble of virtual time a client keeps its session for a day, with thousands of pings, while the test
// takes a moment. When the bubble ends nothing of the server is left in it, or synctest would complain.
func TestADayInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
		conn, _ := goZK(t, s, 10*time.Second)
		path, err := conn.Create("/e", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
		id := conn.SessionID()
		began := time.Now()
		time.Sleep(24 * time.Hour)
		there, stat, err := conn.Exists(path)
		require.NoError(t, err)
		require.True(t, there)
		require.Equal(t, id, stat.EphemeralOwner)
		require.Equal(t, id, conn.SessionID(), "the same session all day")
		require.Greater(t, monitored(t, s, 0, "packets_received"), 24*60*60/10)
		require.Equal(t, 24*time.Hour, time.Since(began), "no time was lost to the answers")
		require.Equal(t, began.UnixMilli(), stat.Ctime, "the server has the bubble's time")
	})
}

// A client that cannot reach its server loses its session after its timeout of virtual time, another sees
// its node go, and it is told when it is let in again.
func TestExpiryInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithReplicas(3))
		victim, states := goZK(t, s, 10*time.Second, 1)
		witness, _ := goZK(t, s, 10*time.Second, 0)
		path, err := victim.Create("/e", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
		_, _, gone, err := witness.ExistsW(path)
		require.NoError(t, err)
		s.Replica(1).Refuse(true)
		s.Replica(1).DropClients()
		began := time.Now()
		require.Equal(t, zk.EventNodeDeleted, (<-gone).Type)
		require.Equal(t, 10*time.Second+100*time.Millisecond, time.Since(began), "the leader heard of the create when it next pinged")
		s.Replica(1).Refuse(false)
		awaitState(t, states, zk.StateExpired)
		awaitState(t, states, zk.StateHasSession)
		there, _, err := victim.Exists(path)
		require.NoError(t, err)
		require.False(t, there)
	})
}

// A bubble ends also when the server is closed while clients have sessions, watches, and replies held.
func TestCloseInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := embedded.Start(embedded.WithoutNetwork(), embedded.WithReplicas(3))
		require.NoError(t, err)
		conn, states := goZK(t, s, 10*time.Second)
		awaitState(t, states, zk.StateHasSession)
		_, _, _, err = conn.ChildrenW("/")
		require.NoError(t, err)
		inject(t, s, embedded.Fault{Op: embedded.OpPing, Action: embedded.HoldReplies, Delay: time.Hour})
		time.Sleep(5 * time.Second)
		s.Close()
		awaitState(t, states, zk.StateDisconnected)
	})
}
