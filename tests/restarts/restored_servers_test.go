package restarts

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
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
// leader and a member of a group. Ready and State say why a client is refused.
func TestRealRestoredServer(t *testing.T) {
	rig.Require(t)
	t.Parallel()
	for name, backedUp := range map[string]bool{"wiped": false, "restored": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, backup := rig.StartStandalone(t), ""
			if backedUp {
				backup = filepath.Join(t.TempDir(), "backup")
				lease := patient.Locked(t, openShort(t, server.Addr()).Mutex("/before").Lock)
				patient.GiveBack(t, lease)
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

// comeBack has clients of each kind live through the replacement of their server. Each works again within the session
// timeout and two seconds of the server's return, plus the time that a plain client takes to connect anew. Until then
// Ready and State say why not.
func comeBack(t *testing.T, server *rig.Server, replace func() error) {
	holder, waiter := openShort(t, server.Addr()), openShort(t, server.Addr())
	idle, leader := openShort(t, server.Addr()), openShort(t, server.Addr())
	joined := openShort(t, server.Addr())
	refused := patient.Open(t, server.Addr()) // for long enough that a slow machine sees why

	held := patient.Locked(t, holder.Mutex("/held").Lock)
	mutex, rec := patient.Recorded(t, waiter, "/held")
	waiting := patient.Elsewhere(patient.Deadline(t), mutex.Lock)
	patient.Await(t, rec, messages.StateWatching)
	leads, err := leader.Election("/lead").Campaign(patient.Deadline(t), "one:80")
	require.NoError(t, err)
	member, err := joined.Group("/members").Join(patient.Deadline(t), "one:80")
	require.NoError(t, err)
	was := member.ID()
	lease := patient.Locked(t, idle.Mutex("/idle").Lock)
	patient.GiveBack(t, lease)
	for range 100 { // it has seen more than the server will have committed by the end
		lease = patient.Locked(t, refused.Mutex("/refused").Lock)
		patient.GiveBack(t, lease)
	}

	require.NoError(t, replace())
	back := time.Now()
	plain := connectAnew(t, server.Addr())
	var all sync.WaitGroup
	works := func(who string, does func() error) {
		all.Go(func() {
			err := does()
			took := time.Since(back)
			t.Logf("%s works %.2f T after the return", who, float64(took)/float64(restoredSession))
			assert.NoError(t, err, who)
			assert.LessOrEqual(t, took, restoredSession+2*time.Second+plain.slowest(), who)
		})
	}
	ctx := patient.Deadline(t)
	works("the waiter", func() error {
		got := <-waiting
		if got.Err != nil {
			return got.Err
		}
		assert.True(t, got.Lease.Valid())
		return got.Lease.Unlock(ctx)
	})
	works("the holder", func() error {
		<-held.Context().Done()
		assert.ErrorIs(t, held.Unlock(ctx), locks.ErrLost)
		return lockOnce(ctx, holder, "/held")
	})
	works("the idle client", func() error { return lockOnce(ctx, idle, "/idle") })
	works("the leader", func() error {
		<-leads.Context().Done()
		leads, err := leader.Election("/lead").Campaign(ctx, "one:80")
		if err != nil {
			return err
		}
		return leads.Resign(ctx)
	})
	works("the member", func() error { return rejoined(ctx, member, was) })
	all.Wait()
	plain.stop()
	require.NoError(t, member.Leave(ctx))
	for _, client := range []*locks.Client{holder, waiter, idle, leader, joined} {
		require.NoError(t, client.Ready())
	}
	saysWhyRefused(t, refused)
}

// saysWhyRefused waits until Ready and State of a client name the data that are older than it has seen.
func saysWhyRefused(t *testing.T, refused *locks.Client) {
	t.Helper()
	patient.Eventually(t, func() bool {
		ready := refused.Ready()
		return ready != nil && strings.Contains(ready.Error(), "its data may be older than what this client has seen")
	}, "Ready never says why it is refused")
	require.ErrorContains(t, refused.State().Cause, "wiped or restored")
}

// rejoined waits until a member has another id than before.
func rejoined(ctx context.Context, member *locks.Membership, was string) error {
	for member.ID() == was {
		select {
		case <-ctx.Done():
			return errors.New("it never joins again")
		case <-time.After(10 * time.Millisecond):
		}
	}
	return nil
}

// lockOnce locks and unlocks.
func lockOnce(ctx context.Context, client *locks.Client, path string) error {
	lease, err := client.Mutex(path).Lock(ctx)
	if err != nil {
		return err
	}
	return lease.Unlock(ctx)
}

// plain is a client of go-zookeeper's that connects anew, again and again. It makes a node each time, which is a turn.
type plain struct {
	mu      sync.Mutex
	most    time.Duration // that a turn has taken
	began   time.Time     // the newest turn
	running bool          // it has not ended
	done    chan struct{}
	end     func()
}

// connectAnew starts a plain client, which stops with the test.
func connectAnew(t *testing.T, server string) *plain {
	p, ctx := &plain{done: make(chan struct{})}, t.Context()
	ctx, p.end = context.WithCancel(ctx)
	go func() {
		defer close(p.done)
		for ctx.Err() == nil {
			p.turns(true)
			if !assert.NoError(t, turn(server), "a plain client") {
				return
			}
			p.turns(false)
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(p.stop)
	return p
}

// turn connects, makes a node and closes the session.
func turn(server string) error {
	dial := func(network, address string, _ time.Duration) (net.Conn, error) {
		return net.DialTimeout(network, address, patient.Bound)
	}
	conn, events, err := zk.Connect([]string{server}, restoredSession, zk.WithDialer(dial), zk.WithLogInfo(false))
	if err != nil {
		return err
	}
	defer func() {
		conn.Close()
		for range events { // its goroutines have ended when the channel is closed
		}
	}()
	_, err = conn.Create("/plain-", nil, zk.FlagEphemeralSequential, zk.WorldACL(zk.PermAll))
	return err
}

// turns notes the beginning or the end of a turn.
func (p *plain) turns(running bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if running {
		p.began = time.Now()
	} else {
		p.most = max(p.most, time.Since(p.began))
	}
	p.running = running
}

// slowest is the longest time that a turn has taken. The turn under way counts, too: on a machine that stands still it
// is the one that is slow.
func (p *plain) slowest() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running {
		return max(p.most, time.Since(p.began))
	}
	return p.most
}

func (p *plain) stop() {
	p.end()
	<-p.done
}

// A server or a proxy that hands out another session on each reconnect: the epoch ends at once, and the sessions that it
// hands out are closed. All sessions here would last for longer than the test waits, but for that by which the client has
// tried to close its old one: it asked for the shortest.
func TestRealSwappedSession(t *testing.T) {
	rig.Require(t)
	t.Parallel()
	server := rig.StartStandalone(t, rig.WithMaxSessionTimeout(stories.Longest))
	proxy := rig.NewProxy(t, server.Addr())
	log, logged := stories.NewLog()
	client := patient.Open(t, proxy.Addr(), locks.WithSessionTimeout(stories.Longest), logged)
	held := patient.Locked(t, client.Mutex("/held").Lock)
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
	other := patient.Locked(t, client.Mutex("/other").Lock)
	require.NotEqual(t, before, client.Session().ID())
	log.Await(t, "as ClickHouse Keeper does")
	require.Equal(t, 1, log.Count("as ClickHouse Keeper does"))
	log.Await(t, "error="+zkconn.ErrOtherSession.Error())
	patient.Eventually(t, func() bool { return sessionsAt(t, server) == 2 }, "sessions are left behind")
	t.Logf("the old session and the new one are all that is left %v after the cut", time.Since(cut))
	require.NoError(t, rig.ExpireSession(patient.Deadline(t), server.Addr(), before, password))
	held = patient.Locked(t, client.Mutex("/held").Lock)
	require.True(t, other.Valid(), "its session is not cut")
	patient.GiveBack(t, held, other)
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
