package inspect

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestQueriesOnAConnection: they need no session actor.
func TestQueriesOnAConnection(t *testing.T) {
	conn := dial(t)
	held := contend(t, conn, "/locks/a", "A")
	contend(t, conn, "/locks/a", "B")
	all, err := Queue(conn, "/locks/a")
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, held, all[0].At())
	require.True(t, all[0].Holds)
	require.Equal(t, []string{all[0].Node}, all[1].WaitsFor)
	require.Equal(t, []string{"A", "B"}, []string{all[0].Who, all[1].Who})
	tree, err := Locks(conn, "/")
	require.NoError(t, err)
	require.Equal(t, []messages.LockCount{{Path: "/locks/a", Holders: 1, Waiters: 1}}, tree.Locks)

	asked, err := Revoke(conn, "/locks/a")
	require.NoError(t, err)
	require.Equal(t, all[:1], asked.Asked)
	data, _, err := conn.Get(held)
	require.NoError(t, err)
	require.True(t, queue.IsRevokeRequest(data))

	require.NoError(t, Break(conn, all[0]))
	require.ErrorIs(t, Break(conn, all[0]), ErrGone)
	require.ErrorIs(t, Break(conn, messages.Contender{Path: "/locks/a", Node: "other", Token: 1}), ErrBadQuery)
	all, err = Queue(conn, "/locks/a")
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.True(t, all[0].Holds)
	all, err = Queue(conn, "/nowhere")
	require.NoError(t, err)
	require.Empty(t, all)

	require.NoError(t, SetPermits(conn, "/locks/s", 7))
	require.NoError(t, SetPermits(conn, "/locks/s", 8))
	data, _, err = conn.Get("/locks/s")
	require.NoError(t, err)
	require.Equal(t, "8", string(data))
	require.ErrorIs(t, SetPermits(conn, "/locks/s", 0), ErrBadQuery)
	require.NoError(t, conn.SetData("/locks/s", []byte("mine")))
	require.ErrorIs(t, SetPermits(conn, "/locks/s", 9), queue.ErrNoPermits)
}

// TestReadsThatFail: a query returns the error of the read that failed.
func TestReadsThatFail(t *testing.T) {
	server := embedded.Run(t)
	conn := dialTo(t, server)
	mutex := contend(t, conn, "/locks/a", "A")
	data, err := json.Marshal(queue.Owner{Mode: messages.Contest.String()})
	require.NoError(t, err)
	made, err := conn.CreatePlain("/locks", "contest-", data)
	require.NoError(t, err)
	contest := "/locks/" + made.Name
	ofQueue := func(path string) func() error {
		return func() error {
			_, err := Queue(conn, path)
			return err
		}
	}
	ofTree := func(root string) func() error {
		return func() error {
			_, err := Locks(conn, root)
			return err
		}
	}
	for name, c := range map[string]struct {
		query func() error
		read  embedded.Op
		of    string
	}{
		"what is new":           {ofQueue("/locks/a"), embedded.OpMulti, "/locks/a"},
		"what is new in a tree": {ofTree("/"), embedded.OpMulti, "/turnstile"},
		"a lock path":           {ofQueue("/locks/a"), embedded.OpExists, "/locks/a"},
		"its children":          {ofQueue("/locks/a"), embedded.OpGetChildren2, "/locks/a"},
		"a contender":           {ofQueue("/locks/a"), embedded.OpGetData, mutex},
		"a contest":             {ofQueue(contest), embedded.OpGetData, contest},
		"the root of a tree":    {ofTree("/"), embedded.OpGetChildren2, "/"},
		"what is below":         {ofTree("/"), embedded.OpGetChildren2, "/locks"},
		"what may be a contest": {ofTree(contest), embedded.OpGetData, contest},
	} {
		t.Run(name, func(t *testing.T) {
			require.Eventually(t, func() bool { return c.query() == nil }, patience, time.Millisecond, "it is connected")
			fault, err := server.Inject(embedded.Fault{Op: c.read, Path: c.of, Action: embedded.CutBefore})
			require.NoError(t, err)
			err = c.query()
			require.ErrorContains(t, err, c.of)
			require.True(t, retriable(err), err)
			require.Equal(t, 1, fault.Hits())
		})
	}
}

// TestRevokeOne: it asks the contender that was seen, and keeps the rest of its node's data. It
// does not ask a contender that has taken its place since.
func TestRevokeOne(t *testing.T) {
	conn := dial(t)
	held := contend(t, conn, "/locks/r", "A")
	contend(t, conn, "/locks/r", "B")
	all, err := Queue(conn, "/locks/r")
	require.NoError(t, err)
	said, _, err := conn.Get(held)
	require.NoError(t, err)

	another := all[0]
	another.Token += 1 << 10
	passedOn := all[0]
	passedOn.Priority++
	for name, c := range map[string]messages.Contender{"a node of another time": another, "passed on": passedOn,
		"gone": {Path: "/locks/r", Node: "_c_x-lock-0000000099", Token: 1 << 10}} {
		answer, err := RevokeOne(conn, c)
		require.NoError(t, err, name)
		require.Empty(t, answer.Asked, name)
		now, _, err := conn.Get(held)
		require.NoError(t, err)
		require.Equal(t, string(said), string(now), name)
	}
	_, err = RevokeOne(conn, messages.Contender{Path: "/locks/r", Node: all[0].Node})
	require.ErrorIs(t, err, ErrBadQuery, "without a token")

	answer, err := RevokeOne(conn, all[0])
	require.NoError(t, err)
	require.Equal(t, all[:1], answer.Asked)
	now, _, err := conn.Get(held)
	require.NoError(t, err)
	require.True(t, queue.IsRevokeRequest(now))
	require.False(t, queue.Overwritten(now))
	require.Contains(t, string(now), string(said[1:]))
	after, err := Queue(conn, "/locks/r")
	require.NoError(t, err)
	require.True(t, after[0].Asked)
	require.False(t, after[1].Asked)
	require.Equal(t, all[0].Who, after[0].Who)
}
