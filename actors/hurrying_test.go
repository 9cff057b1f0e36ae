package actors

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// linked gives the session a connection that never comes about.
func (a *aloneSession) linked(t *testing.T) {
	t.Helper()
	cfg, err := zkconn.NewConfig("127.0.0.1:1", zkconn.WithDialer(func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}))
	require.NoError(t, err)
	a.link, err = zkconn.Dial(cfg, 1, func(zkconn.Event) {})
	require.NoError(t, err)
	t.Cleanup(func() { _ = a.link.Close() })
}

func TestConnectionIsInAHurryWhileSomethingIsHeld(t *testing.T) {
	a := newAlone(t, 1)
	a.linked(t)
	one, _ := a.contend(nodeName(1))
	two, _ := a.contend(nodeName(2))
	three, _ := a.contend("")
	a.hurry()
	require.Nil(t, a.hurries, "who waits is in no hurry")
	a.grantedTo(one)
	a.grantedTo(one)
	a.grantedTo(two)
	a.hurry()
	require.Equal(t, a.link, a.hurries)
	a.forgetNode(one)
	a.forgetNode(one)
	a.hurry()
	require.Equal(t, a.link, a.hurries, "one holds still")
	a.forgetNode(two)
	a.hurry()
	require.Nil(t, a.hurries)

	a.connected = false // its lock actor has told its owner that it holds, when the connection is lost
	a.enlist(three.lock, three.spec)
	a.park(three, &order{Effect: machine.Effect{Do: machine.WatchOwn}})
	a.hurry()
	require.Equal(t, a.link, a.hurries)
}

func TestRestingNodeIsNotHeld(t *testing.T) {
	a := newAlone(t, 1)
	a.linked(t)
	c, _ := a.contend(nodeName(1))
	c.sticky = 1 << 40
	a.grantedTo(c)
	a.hurry()
	require.NotNil(t, a.hurries)
	require.True(t, a.layDown(c))
	a.hurry()
	require.Nil(t, a.hurries)
}

// The heartbeat is the first request on a new connection, whatever waits for it, and though the next was not due.
func TestHeartbeatGoesFirstOnANewConnection(t *testing.T) {
	a := newAlone(t, 1)
	holder, _ := a.contend(nodeName(1))
	a.grantedTo(holder)
	a.ready = make(chan struct{})
	a.startBeating()
	require.EqualValues(t, 1, a.beats)
	a.down(zkconn.Event{})
	waiter, _ := a.contend("")
	a.park(waiter, &order{Effect: machine.Effect{Do: machine.Create, Op: 1}})
	var beats []uint64
	a.run = func(func(*zkconn.Conn) func()) { beats = append(beats, a.beats) }
	a.up(zkconn.Event{Timeout: time.Hour})
	require.EqualValues(t, 2, beats[0], "the first request is a heartbeat")
	require.Greater(t, len(beats), 1)

	a.beaten(holder, holder.node, beat{}, a.beatRun-1) // the one that was under way when the connection was lost
	require.Zero(t, a.answered)
	a.beaten(holder, holder.node, beat{}, a.beatRun)
	require.EqualValues(t, 2, a.answered)
}
