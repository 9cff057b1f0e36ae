package refusals

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/dial"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestCommit: creates of several lock paths and deletes in one transaction, all or none.
func TestCommit(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		conn := dial.Session(t, at.Connect(), zkconn.WithSessionTimeout(patient.Session))
		require.NoError(t, conn.EnsureParents("/one"))
		require.NoError(t, conn.EnsureParents("/two"))
		first, err := conn.Commit([]zkconn.NewNode{{Parent: "/one", Prefix: "a-lock-"}}, nil, nil, nil)
		require.NoError(t, err)
		require.Len(t, first, 1)

		made, err := conn.Commit([]zkconn.NewNode{
			{Parent: "/one", Prefix: "b-lock-", Data: []byte("b")}, {Parent: "/two", Prefix: "c-lock-"},
			{Parent: "/one", Prefix: "d-lock-"}, {Parent: "/two", Prefix: "e-lock-"},
		}, []string{"/one/" + first[0].Name}, nil, nil)
		require.NoError(t, err)
		require.Len(t, made, 4)
		for i, place := range []int{0, 0, 1, 1} {
			require.Equal(t, place, made[i].Place)
			require.Equal(t, made[0].Czxid, made[i].Czxid)
			seq, ok := queue.Sequence(made[i].Name)
			require.True(t, ok)
			before, _ := queue.Sequence(made[max(i-2, 0)].Name)
			require.True(t, i < 2 || seq == before+1, "the numbers of one lock path follow each other")
		}
		data, stat, err := conn.Get("/one/" + made[0].Name)
		require.NoError(t, err)
		require.Equal(t, "b", string(data))
		require.Equal(t, made[0].Czxid, stat.Czxid)

		_, err = conn.Commit([]zkconn.NewNode{{Parent: "/one", Prefix: "f-lock-"}}, []string{"/one/gone"}, nil, nil)
		require.ErrorIs(t, err, zkconn.ErrNoNode)
		var failed *zkconn.Error
		require.True(t, errors.As(err, &failed))
		require.Equal(t, "/one/gone", failed.Path)
		_, err = conn.Commit(nil, []string{"/one/" + made[0].Name}, []string{"/two/" + made[1].Name, "/two/gone"}, nil)
		require.ErrorIs(t, err, zkconn.ErrNoNode)
		require.True(t, errors.As(err, &failed))
		require.Equal(t, "/two/gone", failed.Path)
		_, err = conn.Commit([]zkconn.NewNode{{Parent: "/three", Prefix: "f-lock-"}}, []string{"/one/" + made[0].Name}, nil, nil)
		require.ErrorIs(t, err, zkconn.ErrNoNode)
		children, err := conn.Children("/one")
		require.NoError(t, err)
		require.Len(t, children, 2, "nothing was done")
		_, err = conn.Commit(nil, []string{"/one/" + made[0].Name}, []string{"/two/" + made[1].Name}, nil)
		require.NoError(t, err, "all exist that must")
		_, err = conn.Commit(nil, nil, nil, nil)
		require.ErrorIs(t, err, zkconn.ErrBadConfig)
		_, err = conn.Commit([]zkconn.NewNode{{Parent: "bad", Prefix: "x"}}, nil, nil, nil)
		require.ErrorIs(t, err, zkconn.ErrBadPath)
		_, err = conn.Commit(nil, []string{"bad"}, nil, nil)
		require.ErrorIs(t, err, zkconn.ErrBadPath)
	})
}

// TestCommitTooLarge: parts that are small enough by themselves are not sent together where a server would cut the
// connection for it.
func TestCommitTooLarge(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		conn := dial.Session(t, at.Connect(), zkconn.WithSessionTimeout(patient.Session))
		require.NoError(t, conn.EnsureParents("/large"))
		var nodes []zkconn.NewNode
		for range 20 {
			nodes = append(nodes, zkconn.NewNode{Parent: "/large", Prefix: "x-lock-", Data: make([]byte, 60_000)})
		}
		_, err := conn.Commit(nodes, nil, nil, nil)
		require.ErrorIs(t, err, zkconn.ErrTooLarge)
		require.Equal(t, zkconn.NotSent, zkconn.OutcomeOf(err))
		made, err := conn.Commit(nodes[:2], nil, nil, nil)
		require.NoError(t, err, "the connection is there")
		require.Len(t, made, 2)
	})
}

// TestLabelsThatGrow: labels of which JSON makes six times as many bytes, of many who come together, cut nobody's
// connection.
func TestLabelsThatGrow(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		var dials atomic.Int32
		client := at.Open(t, locks.WithMaxWaiting(512),
			locks.WithDialer(func(ctx context.Context, network, address string) (net.Conn, error) {
				dials.Add(1)
				return new(net.Dialer).DialContext(ctx, network, address)
			}))
		mutex := client.Mutex("/labels", locks.WithLabel(strings.Repeat("<", 1024)))
		patient.Locked(t, mutex.Lock)
		before := dials.Load()
		const waiters = 400
		for range waiters {
			patient.Elsewhere(patient.Deadline(t), mutex.Lock)
		}
		patient.Eventually(t, func() bool {
			queue, err := client.Queue(patient.Deadline(t), "/labels")
			return err == nil && len(queue) == 1+waiters
		}, "all queue")
		require.Equal(t, before, dials.Load())
	})
}
