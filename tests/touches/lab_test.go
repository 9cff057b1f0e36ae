package touches

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// lab is an ensemble of three, and a client at the leader that watches the nodes of the others'
// sessions.
type lab struct {
	*rig.Partitionable
	t                       *testing.T
	leader, follower, other *rig.Server
	observer                *zk.Conn
}

// newLab starts an ensemble of three whose members do not give each other up.
func newLab(t *testing.T, opts ...rig.Option) *lab {
	t.Helper()
	return newLabOf(t, 3, opts...)
}

func newLabOf(t *testing.T, members int, opts ...rig.Option) *lab {
	t.Helper()
	opts = append([]rig.Option{rig.WithConfig("syncLimit", "1000")}, opts...)
	l := &lab{Partitionable: rig.StartPartitionable(t, members, opts...), t: t}
	l.cast()
	l.observer = l.connect(30*time.Second, l.leader.Addr()).Conn
	return l
}

// cast finds the leader and the followers.
func (l *lab) cast() {
	l.t.Helper()
	var err error
	l.leader, err = l.Leader(scene.Deadline(l.t))
	require.NoError(l.t, err)
	l.eventually("two follow", func() bool {
		followers, err := l.Waiting(l.t.Context())
		if err != nil || len(followers) < 2 {
			return false
		}
		l.follower, l.other = followers[0], followers[1]
		return true
	})
}

// client is a session, and how often it has been connected.
type client struct {
	*zk.Conn
	connected atomic.Int64
}

// connect opens a session. Servers are named twice: the library sleeps for a second
// once it has tried all.
func (l *lab) connect(timeout time.Duration, server string) *client {
	l.t.Helper()
	c := &client{}
	conn, _, err := zk.Connect([]string{server, server}, timeout, zk.WithLogger(rig.Silent{}), zk.WithEventCallback(func(event zk.Event) {
		if event.Type == zk.EventSession && event.State == zk.StateHasSession {
			c.connected.Add(1)
		}
	}))
	require.NoError(l.t, err)
	c.Conn = conn
	l.t.Cleanup(conn.Close)
	l.eventually("a session", func() bool { return c.connected.Load() > 0 })
	return c
}

func (l *lab) eventually(what string, condition func() bool) {
	l.t.Helper()
	scene.Eventually(l.t, condition, "%s", what)
}

func (l *lab) create(c *zk.Conn, path string, flags int32) {
	l.t.Helper()
	_, err := c.Create(path, nil, flags, zk.WorldACL(zk.PermAll))
	require.NoError(l.t, err)
}

// life is an ephemeral node of a session, which goes when the session does.
type life struct {
	ended chan struct{}
	at    time.Time // when it was seen to be gone; set before ended is closed
}

// watch makes an ephemeral node for a client and looks when it is gone, until the
// test ends.
func (l *lab) watch(c *client, path string) *life {
	l.t.Helper()
	l.create(c.Conn, path, zk.FlagEphemeral)
	l.eventually(path+" is seen", func() bool {
		found, _, err := l.observer.Exists(path)
		return err == nil && found
	})
	lived := &life{ended: make(chan struct{})}
	stop := make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
		for {
			// An error says nothing: the observer's own server may have no leader.
			if found, _, err := l.observer.Exists(path); err == nil && !found {
				lived.at = time.Now()
				close(lived.ended)
				return
			}
			select {
			case <-time.After(20 * time.Millisecond):
			case <-stop:
				return
			}
		}
	})
	l.t.Cleanup(func() { close(stop); looking.Wait() })
	return lived
}

// over reports whether a channel is closed.
func over(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// await waits until the session is over, and returns when that was seen.
func (l *lab) await(lived *life) time.Time {
	l.t.Helper()
	scene.Receive(l.t, lived.ended)
	return lived.at
}
