package embedded_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Effects of the faults on a whole client, in virtual time: an answer that is lost with the connection says
// nothing about the request, and afterwards the session is the same.
func TestClientLosesItsConnection(t *testing.T) {
	for name, test := range map[string]struct {
		action  embedded.Action
		applied bool
	}{
		"before the request": {embedded.CutBefore, false},
		"after the request":  {embedded.CutAfter, true},
		"reply dropped":      {embedded.DropReply, true},
		"reply held":         {embedded.HoldReplies, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := embedded.Run(t, embedded.WithoutNetwork())
				conn, states := goZK(t, s, 10*time.Second)
				awaitState(t, states, zk.StateHasSession)
				id := conn.SessionID()
				fault := inject(t, s, embedded.Fault{Op: embedded.OpCreate, Path: "/locks/**", Action: test.action})
				_, err := conn.Create("/locks", nil, 0, anyone)
				require.NoError(t, err, "it is above")
				done := make(chan error, 1)
				go func() {
					_, err := conn.Create("/locks/n", nil, zk.FlagEphemeral, anyone)
					done <- err
				}()
				require.NoError(t, fault.Wait(t.Context()))
				if test.action == embedded.DropReply || test.action == embedded.HoldReplies {
					synctest.Wait()
					require.Empty(t, done, "it waits for the reply")
					s.Replica(0).DropClients()
				}
				require.Error(t, <-done)
				awaitState(t, states, zk.StateHasSession)
				there, stat, err := conn.Exists("/locks/n")
				require.NoError(t, err)
				require.Equal(t, test.applied, there)
				require.Equal(t, id, conn.SessionID())
				if there {
					require.Equal(t, id, stat.EphemeralOwner)
				}
			})
		})
	}
}

// A client whose replies are held finds its connection dead, and comes back to the same session: requests
// have kept it alive all the time.
func TestClientGivesUpOnHeldReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := embedded.Run(t, embedded.WithoutNetwork())
		conn, states := goZK(t, s, 9*time.Second)
		awaitState(t, states, zk.StateHasSession)
		id := conn.SessionID()
		inject(t, s, embedded.Fault{Op: embedded.OpPing, Action: embedded.HoldReplies})
		awaitState(t, states, zk.StateDisconnected)
		awaitState(t, states, zk.StateHasSession)
		require.Equal(t, id, conn.SessionID())
		require.Equal(t, []int64{id}, s.Sessions())
	})
}

// A session that is expired by a fault takes its nodes with it, and the client gets another.
func TestClientIsExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := embedded.Run(t, embedded.WithoutNetwork())
		conn, states := goZK(t, s, 10*time.Second)
		_, err := conn.Create("/e", nil, zk.FlagEphemeral, anyone)
		require.NoError(t, err)
		id := conn.SessionID()
		inject(t, s, embedded.Fault{Session: id, Op: embedded.OpMulti, Action: embedded.ExpireBefore})
		_, err = conn.Multi(&zk.SetDataRequest{Path: "/e", Version: -1})
		require.Error(t, err)
		awaitState(t, states, zk.StateExpired)
		awaitState(t, states, zk.StateHasSession)
		there, _, err := conn.Exists("/e")
		require.NoError(t, err)
		require.False(t, there)
		require.NotEqual(t, id, conn.SessionID())
	})
}

// A client that knows all replicas keeps its session while each of them is lost in turn, in each way in
// which it can be.
func TestClientGoesRoundTheReplicas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithReplicas(3))
		conn, states := goZK(t, s, 30*time.Second)
		awaitState(t, states, zk.StateHasSession)
		id := conn.SessionID()
		path, err := conn.Create("/e", nil, zk.FlagEphemeral, anyone)
		require.NoError(t, err)
		lose := []func(r *embedded.Replica) (heal func()){
			func(r *embedded.Replica) func() { r.Stop(); return func() { require.NoError(t, r.Start()) } },
			func(r *embedded.Replica) func() { r.CutOff(); return r.Rejoin },
			func(r *embedded.Replica) func() { r.Refuse(true); r.DropClients(); return func() { r.Refuse(false) } },
			func(r *embedded.Replica) func() { r.HoldReplies(); return r.ReleaseReplies },
		}
		last := int64(0)
		for i := range 12 {
			heal := lose[i%4](s.Replica(i % 3))
			time.Sleep(15 * time.Second) // less than the timeout: behind a replica that is cut off a session does not live on
			heal()
			time.Sleep(15 * time.Second)
			stat, err := conn.Set("/e", nil, -1)
			require.NoError(t, err)
			require.Greater(t, stat.Mzxid, last)
			last = stat.Mzxid
			there, _, err := conn.Exists(path)
			require.NoError(t, err)
			require.True(t, there)
		}
		require.Equal(t, id, conn.SessionID())
	})
}
