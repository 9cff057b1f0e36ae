package txn

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestGet: each holder reads what the one before has written, whichever member of an ensemble it is connected to, and
// what it has written itself.
func TestGet(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, zk *scene.Servers) {
		var clients []*locks.Client
		for i := range 3 {
			clients = append(clients, scene.Open(t, zk.Members[i%len(zk.Members)].Addr()+zk.Root()))
		}
		lease := scene.Locked(t, clients[0].Mutex("/lock").Lock)
		_, _, err := lease.Get(scene.Deadline(t), "/count")
		require.ErrorIs(t, err, zkconn.ErrNoNode)
		require.ErrorContains(t, err, "/count")
		_, err = lease.Txn(scene.Deadline(t), locks.Create("/count", []byte("0")))
		require.NoError(t, err)
		scene.GiveBack(t, lease)
		const rounds = 30
		for round := range rounds {
			require.NoError(t, locks.Do(scene.Deadline(t), clients[round%3].Mutex("/lock"), func(ctx context.Context, _ locks.Token) error {
				for range 2 {
					data, version, err := locks.LeaseOf(ctx).Get(ctx, "/count")
					require.NoError(t, err)
					n, err := strconv.Atoi(string(data))
					require.NoError(t, err)
					_, err = locks.LeaseOf(ctx).Txn(ctx, locks.Set("/count", []byte(strconv.Itoa(n+1)), version))
					require.NoError(t, err)
				}
				return nil
			}))
		}
		require.Equal(t, scene.Written{Data: strconv.Itoa(2 * rounds), Version: 2 * rounds}, zk.Read(t, "/count"))
	})
}

// TestGetRefuses what is not well formed, and reads nothing for a lease that was given back. A read whose request or reply is
// lost with the connection is done again.
func TestGetRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		scene.WritePlace(t, client)
		lease, contest := scene.Locked(t, client.Mutex("/lock").Lock), scene.Locked(t, client.Contest("/contest").Lock)
		_, _, err := lease.Get(t.Context(), "value")
		require.ErrorIs(t, err, locks.ErrBadPath)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_, _, err = lease.Get(ended, scene.Place)
		require.ErrorIs(t, err, context.Canceled)
		for _, action := range []embedded.Action{embedded.Pass, embedded.CutBefore, embedded.CutAfter} {
			lost, err := server.Inject(embedded.Fault{Op: embedded.OpGetData, Path: scene.Place, Action: action})
			require.NoError(t, err)
			data, version, err := lease.Get(t.Context(), scene.Place)
			require.NoError(t, err)
			require.Equal(t, []any{"first", int32(0), 1}, []any{string(data), version, lost.Hits()})
		}
		_, _, err = contest.Get(t.Context(), scene.Place) // which guards no Txn, and is held all the same
		require.NoError(t, err)
		scene.GiveBack(t, lease)
		data, version, err := lease.Get(t.Context(), scene.Place)
		require.ErrorIs(t, err, locks.ErrReleased)
		require.Nil(t, data)
		require.Zero(t, version)
		scene.GiveBack(t, contest)
	})
}

// TestGetComesBehindTxns: a transaction whose caller does not wait any more is still under way. Get
// waits for it, or until its own context ends, and so shows whether it was carried out.
func TestGetComesBehindTxns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := scene.Virtual(t)
		client := scene.Client(t, server)
		scene.WritePlace(t, client)
		lease := scene.Locked(t, client.Mutex("/lock").Lock)
		time.Sleep(time.Minute + 5*time.Second)
		server.Leader().HoldRequests()
		short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, scene.Swap(short, lease, "mine", 0), locks.ErrUnknownOutcome)
		_, _, err := lease.Get(short, scene.Place)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		type reading struct {
			data    string
			version int32
			err     error
		}
		got := make(chan reading, 1)
		go func() {
			data, version, err := lease.Get(context.WithoutCancel(t.Context()), scene.Place)
			got <- reading{string(data), version, err}
		}()
		time.Sleep(time.Second)
		require.Empty(t, got)
		server.Leader().ReleaseRequests()
		require.Equal(t, reading{"mine", 1, nil}, <-got)
		scene.GiveBack(t, lease)
	})
}

// TestGetOfAHolderThatWasBroken: a holder is cut off when it asks. Meanwhile an operator breaks its lock, and the
// next holder writes. The first comes back with its session, and its lease is not over by the clock. It reads the
// next holder's data, which Get does not return, nor does it say that a node does not exist which the next holder has
// deleted.
func TestGetOfAHolderThatWasBroken(t *testing.T) {
	for name, does := range map[string]locks.Op{
		"writes":  locks.Set(scene.Place, []byte("second"), 0),
		"deletes": locks.Delete(scene.Place, 0),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, d, other, lease := heldThroughOutages(t)
				reads, err := server.Inject(embedded.Fault{Op: embedded.OpGetData, Path: scene.Place, Session: lease.Session(),
					Action: embedded.CutBefore})
				require.NoError(t, err)
				d.Refuse(true)
				answer := make(chan error, 1)
				go func() {
					data, _, err := lease.Get(context.WithoutCancel(t.Context()), scene.Place)
					assert.Nil(t, data)
					answer <- err
				}()
				require.NoError(t, reads.Wait(t.Context()))
				time.Sleep(time.Second)
				queue, err := other.Queue(t.Context(), lease.Path())
				require.NoError(t, err)
				require.NoError(t, other.Break(t.Context(), queue[0]))
				next := scene.Locked(t, other.Mutex(lease.Path()).Lock)
				_, err = next.Txn(t.Context(), does)
				require.NoError(t, err)
				d.Refuse(false)
				err = <-answer
				require.ErrorIs(t, err, locks.ErrLost)
				require.NotErrorIs(t, err, zkconn.ErrNoNode)
				scene.GiveBack(t, next)
			})
		})
	}
}

// TestGetAfterTheLease: the lease ends while Get waits for a connection, for the answer, or for a transaction before it.
// Then it says why the lease is over, and gives nothing.
func TestGetAfterTheLease(t *testing.T) {
	silent := func(server *embedded.Server, _ *scene.Network) {
		server.Leader().HoldReplies()
		time.Sleep(time.Minute)
		server.Leader().ReleaseReplies()
	}
	for name, c := range map[string]struct {
		strike func(server *embedded.Server, d *scene.Network)
		txn    bool
	}{
		"cut off, and the session lives": {strike: func(_ *embedded.Server, d *scene.Network) { d.Outage(6 * time.Second) }},
		"cut off, and it has expired":    {strike: func(_ *embedded.Server, d *scene.Network) { d.Outage(time.Minute) }},
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
						go func() { _ = scene.Swap(context.WithoutCancel(t.Context()), lease, "mine", 0) }()
						time.Sleep(time.Millisecond)
					}
					data, _, err := lease.Get(context.WithoutCancel(t.Context()), scene.Place)
					assert.Nil(t, data)
					answer <- err
				}()
				c.strike(server, d)
				require.ErrorIs(t, <-answer, locks.ErrLost)
				_, _, err := lease.Get(t.Context(), scene.Place)
				require.ErrorIs(t, err, locks.ErrLost)
			})
		})
	}
}
