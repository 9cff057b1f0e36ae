package tests

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestGet: each holder reads what the one before has written, whichever member of an ensemble it is connected to, and
// what it has written itself.
func TestGet(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		var clients []*locks.Client
		for i := range 3 {
			clients = append(clients, open(t, zk.members[i%len(zk.members)].Addr()+zk.Root()))
		}
		lease := locked(t, clients[0].Mutex("/lock").Lock)
		_, _, err := lease.Get(deadline(t), "/count")
		require.ErrorIs(t, err, zkconn.ErrNoNode)
		require.ErrorContains(t, err, "/count")
		_, err = lease.Txn(deadline(t), locks.Create("/count", []byte("0")))
		require.NoError(t, err)
		require.NoError(t, lease.Unlock(deadline(t)))
		const rounds = 30
		for round := range rounds {
			require.NoError(t, locks.Do(deadline(t), clients[round%3].Mutex("/lock"), func(ctx context.Context, _ locks.Token) error {
				return addOne(ctx, "/count")
			}))
		}
		require.Equal(t, written{strconv.Itoa(2 * rounds), 2 * rounds}, zk.read(t, "/count"))
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
	eachServer(t, func(t *testing.T, zk *servers) {
		client := open(t, zk.Connect())
		zk.write(t, "/value", "is there")
		lease := locked(t, client.Mutex("/lock").Lock)
		_, _, err := lease.Get(deadline(t), "value")
		require.ErrorIs(t, err, locks.ErrBadPath)
		ended, cancel := context.WithCancel(deadline(t))
		cancel()
		_, _, err = lease.Get(ended, "/value")
		require.ErrorIs(t, err, context.Canceled)
		data, version, err := lease.Get(deadline(t), "/value")
		require.NoError(t, err)
		require.Equal(t, written{"is there", 0}, written{string(data), version})
		contest := locked(t, client.Contest("/contest").Lock) // which guards no Txn, and is held all the same
		_, _, err = contest.Get(deadline(t), "/value")
		require.NoError(t, err)
		require.NoError(t, lease.Unlock(deadline(t)))
		data, version, err = lease.Get(deadline(t), "/value")
		require.ErrorIs(t, err, locks.ErrReleased)
		require.Equal(t, written{"", 0}, written{string(data), version})
	})
}

// TestGetReadsAgain: the connection is cut while it reads, and the reply is lost.
func TestGetReadsAgain(t *testing.T) {
	eachServer(t, func(t *testing.T, zk *servers) {
		proxy := zk.Proxy(t)
		client := open(t, proxy.Addr()+zk.Root())
		zk.write(t, "/value", "is there")
		lease := locked(t, client.Mutex("/lock").Lock)
		for _, action := range []rig.Action{rig.DropReply, rig.CutBefore} {
			fault := proxy.Expect(rig.Rule{Op: rig.OpGetData, Action: action,
				Path: func(path string) bool { return path == zk.Root()+"/value" }})
			data, _, err := lease.Get(deadline(t), "/value")
			<-fault.Fired()
			require.NoError(t, err)
			require.Equal(t, "is there", string(data))
		}
		require.NoError(t, lease.Unlock(deadline(t)))
	})
}

// TestGetComesBehindTxns: a transaction whose caller does not wait any more is still under way. Get waits for it, and so
// tells what became of it.
func TestGetComesBehindTxns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
		client := openVirtual(t, server, server.Connect())
		writePlace(t, client)
		lease, err := client.Mutex("/lock").Lock(t.Context())
		require.NoError(t, err)
		time.Sleep(time.Minute + 5*time.Second)
		server.Leader().HoldRequests()
		short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		require.ErrorIs(t, swap(short, lease, "mine", 0), locks.ErrUnknownOutcome)
		type reading struct {
			data    string
			version int32
			err     error
		}
		got := make(chan reading, 1)
		go func() {
			data, version, err := lease.Get(context.WithoutCancel(t.Context()), place)
			got <- reading{string(data), version, err}
		}()
		time.Sleep(time.Second)
		require.Empty(t, got)
		server.Leader().ReleaseRequests()
		require.Equal(t, reading{"mine", 1, nil}, <-got)
		require.NoError(t, lease.Unlock(t.Context()))
	})
}

// TestGetAfterTheLease: the lease ends while Get waits for a connection, for the answer, or for a transaction before it.
// Then it says why the lease is over, and gives nothing.
func TestGetAfterTheLease(t *testing.T) {
	silent := func(server *embedded.Server, _ *outageDialer) {
		server.Leader().HoldReplies()
		time.Sleep(time.Minute)
		server.Leader().ReleaseReplies()
	}
	for name, c := range map[string]struct {
		strike func(server *embedded.Server, d *outageDialer)
		txn    bool
	}{
		"cut off, and the session lives": {strike: func(_ *embedded.Server, d *outageDialer) { d.outage(6 * time.Second) }},
		"cut off, and it has expired":    {strike: func(_ *embedded.Server, d *outageDialer) { d.outage(time.Minute) }},
		"no answer":                      {strike: silent},
		"behind a transaction":           {strike: silent, txn: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
				d := &outageDialer{server: server}
				client, others := openThrough(t, server, d), openVirtual(t, server, server.Connect())
				writePlace(t, others)
				lease, err := client.Mutex("/lock").Lock(t.Context())
				require.NoError(t, err)
				time.Sleep(time.Minute)
				answer := make(chan error, 2)
				go func() {
					time.Sleep(time.Millisecond)
					if c.txn {
						go func() { _ = swap(context.WithoutCancel(t.Context()), lease, "mine", 0) }()
						time.Sleep(time.Millisecond)
					}
					data, _, err := lease.Get(context.WithoutCancel(t.Context()), place)
					require.Nil(t, data)
					answer <- err
				}()
				c.strike(server, d)
				require.ErrorIs(t, <-answer, locks.ErrLost)
				_, _, err = lease.Get(t.Context(), place)
				require.ErrorIs(t, err, locks.ErrLost)
			})
		})
	}
}
