package tests

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// dialed gives a connection without any actor.
func dialed(t *testing.T, connect string) *zkconn.Conn {
	t.Helper()
	cfg, err := zkconn.NewConfig(connect, zkconn.WithSessionTimeout(long))
	require.NoError(t, err)
	connected := make(chan struct{}, 8)
	conn, err := zkconn.Dial(cfg, 1, func(ev zkconn.Event) {
		if ev.Kind == zkconn.Connected {
			connected <- struct{}{}
		}
	})
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	select {
	case <-connected:
	case <-time.After(bound):
		t.Fatal("it never connected")
	}
	return conn
}

// TestCommit: creates of several lock paths and deletes in one transaction, all or none.
func TestCommit(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		conn := dialed(t, at.Connect())
		require.NoError(t, conn.EnsureParents("/one"))
		require.NoError(t, conn.EnsureParents("/two"))
		first, _, err := conn.Commit([]zkconn.NewNode{{Parent: "/one", Prefix: "a-lock-"}}, nil, nil)
		require.NoError(t, err)
		require.Len(t, first, 1)
		require.EqualValues(t, 1, first[0].Siblings)

		made, sent, err := conn.Commit([]zkconn.NewNode{
			{Parent: "/one", Prefix: "b-lock-", Data: []byte("b")}, {Parent: "/two", Prefix: "c-lock-"},
			{Parent: "/one", Prefix: "d-lock-"}, {Parent: "/two", Prefix: "e-lock-"},
		}, []string{"/one/" + first[0].Name}, nil)
		require.NoError(t, err)
		require.Len(t, made, 4)
		for i, place := range []int{0, 0, 1, 1} {
			require.Equal(t, place, made[i].Place)
			require.Equal(t, 2, made[i].Together)
			require.EqualValues(t, 2, made[i].Siblings)
			require.Equal(t, made[0].Czxid, made[i].Czxid)
			require.Equal(t, sent, made[i].Sent)
			seq, ok := machine.Sequence(made[i].Name)
			require.True(t, ok)
			before, _ := machine.Sequence(made[max(i-2, 0)].Name)
			require.True(t, i < 2 || seq == before+1, "the numbers of one lock path follow each other")
		}
		data, stat, err := conn.Get("/one/" + made[0].Name)
		require.NoError(t, err)
		require.Equal(t, "b", string(data))
		require.Equal(t, made[0].Czxid, stat.Czxid)

		_, _, err = conn.Commit([]zkconn.NewNode{{Parent: "/one", Prefix: "f-lock-"}}, []string{"/one/gone"}, nil)
		require.ErrorIs(t, err, zkconn.ErrNoNode)
		var failed *zkconn.Error
		require.True(t, errors.As(err, &failed))
		require.Equal(t, "/one/gone", failed.Path)
		_, _, err = conn.Commit(nil, []string{"/one/" + made[0].Name}, []string{"/two/" + made[1].Name, "/two/gone"})
		require.ErrorIs(t, err, zkconn.ErrNoNode)
		require.True(t, errors.As(err, &failed))
		require.Equal(t, "/two/gone", failed.Path)
		_, _, err = conn.Commit([]zkconn.NewNode{{Parent: "/three", Prefix: "f-lock-"}}, []string{"/one/" + made[0].Name}, nil)
		require.ErrorIs(t, err, zkconn.ErrNoNode)
		children, err := conn.Children("/one")
		require.NoError(t, err)
		require.Len(t, children, 2, "nothing was done")
		_, _, err = conn.Commit(nil, []string{"/one/" + made[0].Name}, []string{"/two/" + made[1].Name})
		require.NoError(t, err, "all exist that must")
		_, _, err = conn.Commit(nil, nil, nil)
		require.ErrorIs(t, err, zkconn.ErrBadConfig)
		_, _, err = conn.Commit([]zkconn.NewNode{{Parent: "bad", Prefix: "x"}}, nil, nil)
		require.ErrorIs(t, err, zkconn.ErrBadPath)
		_, _, err = conn.Commit(nil, []string{"bad"}, nil)
		require.ErrorIs(t, err, zkconn.ErrBadPath)
	})
}
