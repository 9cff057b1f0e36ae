package refusals

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// tallied counts the connections that a client makes and the records that it logs.
type tallied struct{ dials, records atomic.Int64 }

func (c *tallied) options() []locks.Option {
	return []locks.Option{
		locks.WithLogger(slog.New(slog.NewTextHandler(c, nil))),
		locks.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			c.dials.Add(1)
			return new(net.Dialer).DialContext(ctx, network, address)
		}),
	}
}

// Write takes one record.
func (c *tallied) Write(record []byte) (int, error) {
	c.records.Add(1)
	return len(record), nil
}

// TestRealServerCutsWhatIsTooLarge: a server hangs up on a request that is larger than its jute.maxbuffer. That request
// names its trouble, and costs the others of the session a reconnect now and then.
func TestRealServerCutsWhatIsTooLarge(t *testing.T) {
	server := rig.StartStandalone(t, rig.WithSystemProperty("jute.maxbuffer", "1000"))
	var seen tallied
	client := patient.Open(t, server.Addr(), seen.options()...)
	held := patient.Locked(t, client.Mutex("/held").Lock)
	before, logged := seen.dials.Load(), seen.records.Load()
	const lasts = 10 * time.Second
	ctx, stop := context.WithTimeout(patient.Deadline(t), lasts)
	defer stop()
	answer := patient.Elsewhere(ctx, client.Mutex("/large", locks.WithLabel(strings.Repeat("x", 1000))).Lock)
	cycles := 0
	for ctx.Err() == nil {
		lease := patient.Locked(t, client.Mutex("/other").Lock)
		patient.GiveBack(t, lease)
		cycles++
	}
	got := patient.Receive(t, answer)
	dials, records := seen.dials.Load()-before, seen.records.Load()-logged
	t.Logf("%d connections and %d log records in %v; others: %d cycles; %v", dials, records, lasts, cycles, got.Err)
	require.ErrorIs(t, got.Err, context.DeadlineExceeded)
	require.Regexp(t, `the server hangs up on create /large/_c_\S+, \d+ times`, got.Err.Error())
	require.Less(t, dials, int64(20))
	require.True(t, held.Valid())
	patient.GiveBack(t, held)
}

// TestRealProxyCutsContainers: a proxy hangs up on each create of a container, as ClickHouse Keeper did. There are
// persistent nodes then.
func TestRealProxyCutsContainers(t *testing.T) {
	server := rig.StartStandalone(t)
	var seen tallied
	client := patient.Open(t, cuttingProxy(t, server.Addr(), 19).String(), seen.options()...)
	ctx, stop := context.WithTimeout(patient.Deadline(t), 10*time.Second)
	defer stop()
	before, begun := seen.dials.Load(), time.Now()
	lease, err := client.Mutex("/a/b").Lock(ctx)
	t.Logf("%d connections and %d log records in %v; %v", seen.dials.Load()-before, seen.records.Load(),
		time.Since(begun).Round(time.Millisecond), err)
	require.NoError(t, err)
	patient.GiveBack(t, lease)
	require.LessOrEqual(t, seen.dials.Load()-before, int64(4))
}

// cuttingProxy passes on what comes, and closes a connection in place of passing on a request of a kind. A frame of the
// client's is one write.
func cuttingProxy(t *testing.T, to string, op byte) net.Addr {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var running sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); running.Wait() })
	serve := func(client net.Conn) {
		defer func() { _ = client.Close() }()
		up, err := net.Dial("tcp", to)
		if err != nil {
			return
		}
		defer func() { _ = up.Close() }()
		running.Go(func() {
			buffer := make([]byte, 64<<10)
			for {
				n, err := up.Read(buffer)
				if _, writeErr := client.Write(buffer[:n]); err != nil || writeErr != nil {
					_ = client.Close()
					return
				}
			}
		})
		buffer := make([]byte, 64<<10)
		for {
			n, err := client.Read(buffer)
			if err != nil || hasRequest(buffer[:n], op) {
				return
			}
			if _, err := up.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
	running.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { serve(client) })
		}
	})
	return listener.Addr()
}

// hasRequest looks for a request of a kind among whole frames: length, xid, kind.
func hasRequest(frames []byte, op byte) bool {
	for len(frames) >= 12 {
		length := int(frames[0])<<24 | int(frames[1])<<16 | int(frames[2])<<8 | int(frames[3])
		if frames[8] == 0 && frames[9] == 0 && frames[10] == 0 && frames[11] == op {
			return true
		}
		frames = frames[min(len(frames), 4+length):]
	}
	return false
}

// TestRealQuotaOnServer: a contender beyond a quota is refused with an error that may pass, and others go on.
func TestRealQuotaOnServer(t *testing.T) {
	server := rig.StartStandalone(t, rig.WithConfig("enforceQuota", "true"))
	client := patient.Open(t, server.Addr())
	patient.Cycle(t, client.Mutex("/x"))
	conn := (&stories.Servers{Members: []rig.Address{server.Address()}}).Raw(t)
	for _, n := range []struct{ path, data string }{
		{"/x", ""}, {"/zookeeper/quota/x", ""}, {"/zookeeper/quota/x/zookeeper_stats", "count=1,bytes=0"},
	} {
		if _, err := conn.Create(n.path, []byte(n.data), 0, zk.WorldACL(zk.PermAll)); err != nil {
			require.ErrorIs(t, err, zk.ErrNodeExists, n.path)
		}
	}
	_, err := conn.Create("/zookeeper/quota/x/zookeeper_limits",
		[]byte("count=-1,bytes=-1;byteHardLimit=-1;countHardLimit=2"), 0, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)

	lease := patient.Locked(t, client.Mutex("/x").Lock)
	_, err = client.Mutex("/x").Lock(patient.Deadline(t))
	require.ErrorIs(t, err, locks.ErrQuota)
	require.True(t, locks.MayPass(err))
	require.NoError(t, client.Ready())
	require.True(t, lease.Valid())
	patient.Cycle(t, client.Mutex("/y"))
	patient.GiveBack(t, lease)
	patient.Cycle(t, client.Mutex("/x"))
}

// TestRealThrottledServer: a server takes one request at a time, and throttles requests that have
// waited for more than a millisecond. All are carried out in the end.
func TestRealThrottledServer(t *testing.T) {
	server := rig.StartStandalone(t, rig.WithConfig("request_throttle_max_requests", "1"),
		rig.WithConfig("request_throttle_stall_time", "5"), rig.WithConfig("throttled_op_wait_time", "1"))
	const clients, each = 4, 40
	var all sync.WaitGroup
	for c := range clients {
		client := patient.Open(t, server.Addr())
		for i := range each {
			all.Go(func() {
				lease, err := client.Mutex(fmt.Sprintf("/throttled/%d", (c+i)%7)).Lock(patient.Deadline(t))
				if err == nil {
					err = lease.Unlock(patient.Deadline(t))
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	answer, err := server.Address().FourLetter(t.Context(), "mntr")
	require.NoError(t, err)
	_, throttled, found := strings.Cut(answer, "zk_throttled_ops\t")
	require.True(t, found, "%s", answer)
	throttled, _, _ = strings.Cut(throttled, "\n")
	t.Logf("throttled: %s", throttled)
	require.NotEqual(t, "0", throttled)
}

// TestRealLocalSessions: servers that keep sessions local and do not make them global allow no lock. Lock says so, at the
// leader and at a follower.
func TestRealLocalSessions(t *testing.T) {
	ensemble := rig.StartEnsemble(t, 3, rig.WithConfig("localSessionsEnabled", "true"),
		rig.WithConfig("localSessionsUpgradingEnabled", "false"))
	leader, err := ensemble.Leader(patient.Deadline(t))
	require.NoError(t, err)
	followers, err := ensemble.Waiting(patient.Deadline(t))
	require.NoError(t, err)
	for name, server := range map[string]*rig.Server{"leader": leader, "follower": followers[0]} {
		t.Run(name, func(t *testing.T) {
			var seen tallied
			client := patient.Open(t, server.Addr(), seen.options()...)
			ctx, stop := context.WithTimeout(patient.Deadline(t), 20*time.Second)
			defer stop()
			begun := time.Now()
			answer := patient.Elsewhere(ctx, client.Mutex("/local").Lock)
			patient.Eventually(t, func() bool { return client.Ready() != nil }, "the client says that it is not ready")
			err := patient.Receive(t, answer).Err
			t.Logf("%v: %d connections, %d log records: %v", time.Since(begun), seen.dials.Load(), seen.records.Load(), err)
			require.LessOrEqual(t, seen.dials.Load(), int64(20))
			require.ErrorIs(t, err, locks.ErrLocalSession)
			require.False(t, locks.MayPass(err))
		})
	}
}
