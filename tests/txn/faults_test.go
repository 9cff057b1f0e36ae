package txn

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// accountant is a holder that writes a node under a lock, one version after the other, and keeps
// account of the outcomes: a transaction that succeeded was carried out once, one that failed was
// not, and only one of unknown outcome may have been.
type accountant struct {
	mutex   *locks.Mutex
	lease   *locks.Lease
	version int32
	doubt   bool // of the last one nobody knows
	locked  int
	wrote   int
	unknown int
	lost    int
}

// write writes the next version.
func (l *accountant) write(t *testing.T, ctx context.Context) {
	t.Helper()
	if l.lease == nil {
		lease := patient.Locked(t, l.mutex.Lock)
		l.lease = lease
		l.locked++
	}
	_, err := l.lease.Txn(ctx, locks.Set("/value", []byte(strconv.Itoa(rand.Int())), l.version))
	switch {
	case err == nil:
		l.version++
		l.wrote++
		l.doubt = false
	case l.doubt && errors.Is(err, zkconn.ErrBadVersion): // the one before was carried out
		l.version++
		l.doubt = false
	case errors.Is(err, locks.ErrUnknownOutcome):
		l.unknown++
		l.doubt = true
		l.giveUp(ctx)
	case errors.Is(err, locks.ErrLost):
		l.lost++
		l.giveUp(ctx)
	default:
		t.Fatal(err)
	}
}

// giveUp locks anew for the next one.
func (l *accountant) giveUp(ctx context.Context) {
	_ = l.lease.Unlock(ctx)
	l.lease = nil
}

// TestTxnsAreExact: requests and replies are lost at random, and connections.
func TestTxnsAreExact(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		zk.Write(t, "/value", "")
		proxy := zk.Proxy(t)
		l := &accountant{mutex: patient.Open(t, proxy.Addr()+zk.Root()).Mutex("/lock")}
		const writes = 40
		for range writes {
			var fault *rig.Fault
			switch rand.IntN(4) {
			case 0:
				fault = expectWrite(proxy, zk, rig.DropReply)
			case 1:
				fault = expectWrite(proxy, zk, rig.CutBefore)
			case 2:
				go proxy.Cut()
			}
			l.write(t, patient.Deadline(t))
			if fault != nil {
				stories.AwaitFault[patient.Answer](t, fault, nil)
			}
			require.Equal(t, l.version, zk.Read(t, "/value").Version)
		}
		if l.locked == 1 { // no lease was lost because the machine is slow
			require.Equal(t, writes, l.wrote, "who holds the lock alone, and writes at a version, always knows")
		}
		t.Logf("%d written, %d unknown, %d lost", l.wrote, l.unknown, l.lost)
	})
}

func expectWrite(proxy *rig.Proxy, zk *stories.Servers, action rig.Action) *rig.Fault {
	return proxy.Expect(rig.Rule{Op: rig.OpMulti, Action: action,
		Path: func(path string) bool { return path == zk.Root()+"/value" }})
}

// TestTxnsThroughLeaderChanges: leaders are killed while a holder writes.
func TestTxnsThroughLeaderChanges(t *testing.T) {
	stories.EachControlled(t, 3, func(t *testing.T, servers stories.Controlled) {
		client := patient.Open(t, servers.Connect)
		setup := patient.Locked(t, client.Mutex("/setup").Lock)
		_, err := setup.Txn(patient.Deadline(t), locks.Create("/value", nil))
		require.NoError(t, err)
		patient.GiveBack(t, setup)
		over, ctx := make(chan error, 1), patient.Deadline(t)
		go func() {
			for range 3 {
				time.Sleep(100 * time.Millisecond)
				leader, err := servers.Find(ctx)
				if err == nil {
					err = errors.Join(leader.Kill(), leader.Restart(ctx))
				}
				if err != nil {
					over <- err
					return
				}
			}
			over <- nil
		}()
		l := &accountant{mutex: client.Mutex("/lock")}
		for done := false; !done; {
			select {
			case err := <-over:
				require.NoError(t, err)
				done = true
			default:
			}
			l.write(t, patient.Deadline(t))
		}
		for l.doubt {
			l.write(t, patient.Deadline(t))
		}
		again := patient.Locked(t, client.Mutex("/setup").Lock)
		_, err = again.Txn(patient.Deadline(t), locks.Check("/value", l.version))
		require.NoError(t, err)
		t.Logf("%d written, %d unknown, %d lost", l.wrote, l.unknown, l.lost)
	})
}
