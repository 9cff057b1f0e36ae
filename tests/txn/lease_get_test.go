package txn

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestGet: each holder reads what the one before has written, whichever member of an ensemble it is connected to, and
// what it has written itself.
func TestGet(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		var clients []*locks.Client
		for i := range 3 {
			clients = append(clients, patient.Open(t, zk.Members[i%len(zk.Members)].Addr()+zk.Root()))
		}
		lease := patient.Locked(t, clients[0].Mutex("/lock").Lock)
		_, _, err := lease.Get(patient.Deadline(t), "/count")
		require.ErrorIs(t, err, zkconn.ErrNoNode)
		require.ErrorContains(t, err, "/count")
		_, err = lease.Txn(patient.Deadline(t), locks.Create("/count", []byte("0")))
		require.NoError(t, err)
		patient.GiveBack(t, lease)
		const rounds = 30
		for round := range rounds {
			require.NoError(t, locks.Do(patient.Deadline(t), clients[round%3].Mutex("/lock"),
				func(ctx context.Context, _ locks.Token) error {
					return addOne(ctx, "/count")
				}))
		}
		require.Equal(t, stories.Written{Data: strconv.Itoa(2 * rounds), Version: 2 * rounds}, zk.Read(t, "/count"))
	})
}

// addOne adds one to the number in a node, twice, under the lease of ctx.
func addOne(ctx context.Context, path string) error {
	lease := locks.LeaseOf(ctx)
	for range 2 {
		data, version, err := lease.Get(ctx, path)
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(string(data))
		if err != nil {
			return err
		}
		if _, err = lease.Txn(ctx, locks.Set(path, []byte(strconv.Itoa(n+1)), version)); err != nil {
			return err
		}
	}
	return nil
}

// TestGetRefuses what is not well formed, and reads nothing for a lease that was given back.
func TestGetRefuses(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		zk.Write(t, "/value", "is there")
		lease := patient.Locked(t, client.Mutex("/lock").Lock)
		_, _, err := lease.Get(patient.Deadline(t), "value")
		require.ErrorIs(t, err, locks.ErrBadPath)
		ended, cancel := context.WithCancel(patient.Deadline(t))
		cancel()
		_, _, err = lease.Get(ended, "/value")
		require.ErrorIs(t, err, context.Canceled)
		data, version, err := lease.Get(patient.Deadline(t), "/value")
		require.NoError(t, err)
		require.Equal(t, stories.Written{Data: "is there", Version: 0}, stories.Written{Data: string(data), Version: version})
		contest := patient.Locked(t, client.Contest("/contest").Lock) // which guards no Txn, and is held all the same
		_, _, err = contest.Get(patient.Deadline(t), "/value")
		require.NoError(t, err)
		patient.GiveBack(t, lease)
		data, version, err = lease.Get(patient.Deadline(t), "/value")
		require.ErrorIs(t, err, locks.ErrReleased)
		require.Equal(t, stories.Written{Data: "", Version: 0}, stories.Written{Data: string(data), Version: version})
	})
}

// TestGetReadsAgain: the connection is cut while it reads, and the reply is lost.
func TestGetReadsAgain(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		proxy := zk.Proxy(t)
		client := patient.Open(t, proxy.Addr()+zk.Root())
		zk.Write(t, "/value", "is there")
		lease := patient.Locked(t, client.Mutex("/lock").Lock)
		for _, action := range []rig.Action{rig.DropReply, rig.CutBefore} {
			fault := proxy.Expect(rig.Rule{Op: rig.OpGetData, Action: action,
				Path: func(path string) bool { return path == zk.Root()+"/value" }})
			data, _, err := lease.Get(patient.Deadline(t), "/value")
			<-fault.Fired()
			require.NoError(t, err)
			require.Equal(t, "is there", string(data))
		}
		patient.GiveBack(t, lease)
	})
}

// TestGetComesBehindTxns: a transaction whose caller does not wait any more is still under way. Get
// waits for it, and so shows whether it was carried out.
func TestGetComesBehindTxns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := bubble.Server(t)
		client := bubble.Client(t, server)
		bubble.WritePlace(t, client)
		lease := bubble.Locked(t, client.Mutex("/lock").Lock)
		time.Sleep(time.Minute + 5*time.Second)
		server.Leader().HoldRequests()
		short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, bubble.Swap(short, lease, "mine", 0), locks.ErrUnknownOutcome)
		type reading struct {
			data    string
			version int32
			err     error
		}
		got := make(chan reading, 1)
		go func() {
			data, version, err := lease.Get(context.WithoutCancel(t.Context()), bubble.Place)
			got <- reading{string(data), version, err}
		}()
		time.Sleep(time.Second)
		require.Empty(t, got)
		server.Leader().ReleaseRequests()
		require.Equal(t, reading{"mine", 1, nil}, <-got)
		bubble.GiveBack(t, lease)
	})
}

// TestGetOfAHolderThatWasBroken: a holder is cut off when it asks. Meanwhile an operator breaks its lock, and the
// next holder writes. The first comes back with its session, and its lease is not over by the clock. It reads the
// next holder's data, which Get does not return, nor does it say that a node does not exist which the next holder has
// deleted.
func TestGetOfAHolderThatWasBroken(t *testing.T) {
	for name, does := range map[string]locks.Op{
		"writes":  locks.Set(bubble.Place, []byte("second"), 0),
		"deletes": locks.Delete(bubble.Place, 0),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, d, other, lease := heldThroughOutages(t)
				reads, err := server.Inject(embedded.Fault{Op: embedded.OpGetData, Path: bubble.Place, Session: lease.Session(),
					Action: embedded.CutBefore})
				require.NoError(t, err)
				d.Refuse(true)
				answer := make(chan error, 1)
				go func() {
					data, _, err := lease.Get(context.WithoutCancel(t.Context()), bubble.Place)
					require.Nil(t, data)
					answer <- err
				}()
				require.NoError(t, reads.Wait(t.Context()))
				time.Sleep(time.Second)
				queue, err := other.Queue(t.Context(), lease.Path())
				require.NoError(t, err)
				require.NoError(t, other.Break(t.Context(), queue[0]))
				next := bubble.Locked(t, other.Mutex(lease.Path()).Lock)
				_, err = next.Txn(t.Context(), does)
				require.NoError(t, err)
				d.Refuse(false)
				err = <-answer
				require.ErrorIs(t, err, locks.ErrLost)
				require.NotErrorIs(t, err, zkconn.ErrNoNode)
				bubble.GiveBack(t, next)
			})
		})
	}
}

// TestGetAfterTheLease: the lease ends while Get waits for a connection, for the answer, or for a transaction before it.
// Then it says why the lease is over, and gives nothing.
func TestGetAfterTheLease(t *testing.T) {
	silent := func(server *embedded.Server, _ *bubble.Network) {
		server.Leader().HoldReplies()
		time.Sleep(time.Minute)
		server.Leader().ReleaseReplies()
	}
	for name, c := range map[string]struct {
		strike func(server *embedded.Server, d *bubble.Network)
		txn    bool
	}{
		"cut off, and the session lives": {strike: func(_ *embedded.Server, d *bubble.Network) { d.Outage(6 * time.Second) }},
		"cut off, and it has expired":    {strike: func(_ *embedded.Server, d *bubble.Network) { d.Outage(time.Minute) }},
		"no answer":                      {strike: silent},
		"behind a transaction":           {strike: silent, txn: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, d, _, lease := heldThroughOutages(t)
				answer := make(chan error, 2)
				go func() {
					time.Sleep(time.Millisecond)
					if c.txn {
						go func() { _ = bubble.Swap(context.WithoutCancel(t.Context()), lease, "mine", 0) }()
						time.Sleep(time.Millisecond)
					}
					data, _, err := lease.Get(context.WithoutCancel(t.Context()), bubble.Place)
					require.Nil(t, data)
					answer <- err
				}()
				c.strike(server, d)
				require.ErrorIs(t, <-answer, locks.ErrLost)
				_, _, err := lease.Get(t.Context(), bubble.Place)
				require.ErrorIs(t, err, locks.ErrLost)
			})
		})
	}
}
