package actors

import (
	"context"
	"net"
	"testing"

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
