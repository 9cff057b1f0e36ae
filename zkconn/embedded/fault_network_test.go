package embedded_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// Over the network too a cut lets through what was answered before it, however much the client has sent
// after it: a test of a lost reply is not to lose others with it.
func TestCutsOverTheNetwork(t *testing.T) {
	s := embedded.Run(t)
	witness := openRaw(t, s, 0, time.Minute)
	for i := range 5 {
		for _, action := range []embedded.Action{embedded.CutBefore, embedded.CutAfter} {
			c := overNetwork(t, s.Addr())
			require.True(t, c.open(time.Minute))
			fault := inject(t, s, embedded.Fault{Session: c.session, Op: embedded.OpCreate, Action: action})
			frames := [][]byte{c.request(embedded.OpExists, "/", false), c.request(embedded.OpCreate, createOf("/n-", sequential))}
			for range 200 {
				frames = append(frames, c.request(embedded.OpSetData, "/", make([]byte, 1000), anyVersion))
			}
			_ = c.tryWrite(frames...)
			require.Equal(t, int32(1), c.reply().must().xid)
			c.closed()
			require.Equal(t, 1, fault.Hits())
			fault.Remove()
			if action == embedded.CutAfter {
				require.Len(t, witness.children("/"), i+2)
			}
		}
	}
	require.Zero(t, witness.stat("/").version, "nothing after a cut is carried out")
	until(t, func() bool { return monitored(t, s, 0, "num_alive_connections") == 2 })
}

// The reply to the closing of a session arrives over the network, also when the client has sent
// more after it.
func TestLastReplyOverTheNetwork(t *testing.T) {
	s := embedded.Run(t)
	for range 5 {
		c := overNetwork(t, s.Addr())
		require.True(t, c.open(time.Minute))
		frames := [][]byte{c.request(embedded.OpCloseSession)}
		for range 200 {
			frames = append(frames, c.request(embedded.OpSetData, "/", make([]byte, 1000), anyVersion))
		}
		_ = c.tryWrite(frames...)
		require.Equal(t, int32(1), c.reply().must().xid)
		c.closed()
	}
	require.Empty(t, s.Sessions())
}
