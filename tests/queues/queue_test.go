package queues

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

func TestQueueTellsWhoHoldsAndWhoWaits(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		one, two, other := at.Open(t), at.Open(t), at.Open(t)
		begun := time.Now()
		held := scene.Locked(t, one.Mutex("/orders/42", locks.WithLabel("billing")).Lock)
		waits := scene.Queue(t, two, "/orders/42")
		waiter := scene.Await(t, waits.Rec, messages.StateWatching)

		all := scene.QueueOf(t, other, "/orders/42")
		require.Len(t, all, 2)
		host, err := os.Hostname()
		require.NoError(t, err)
		first := all[0]
		require.WithinRange(t, first.Since, begun.Add(-time.Second), time.Now().Add(time.Second))
		require.Contains(t, first.Actor, one.System().Address())
		require.Equal(t, queue.Caller(first.Actor), first.Who)
		first.Since, first.Actor, first.Who = time.Time{}, "", ""
		require.Equal(t, messages.Contender{
			Path: "/orders/42", Node: held.Node(), Sequence: 0, Session: one.Session().ID(), Token: held.Token(),
			Holds: true, Library: messages.LibraryTurnstile, Host: host, PID: os.Getpid(), Label: "billing",
		}, first)
		second := all[1]
		require.Equal(t, waiter.Node, second.Node)
		require.Equal(t, waiter.Token, second.Token)
		require.EqualValues(t, 1, second.Sequence)
		require.Equal(t, two.Session().ID(), second.Session)
		require.False(t, second.Holds)
		require.Equal(t, []string{held.Node()}, second.WaitsFor)

		scene.GiveBack(t, held)
		lease := waits.Granted(t)
		all = scene.QueueOf(t, other, "/orders/42")
		require.Len(t, all, 1)
		require.True(t, all[0].Holds)
		scene.GiveBack(t, lease)
		require.Empty(t, scene.QueueOf(t, other, "/orders/42"))
		require.Empty(t, scene.QueueOf(t, other, "/never/made"))
	})
}

// TestQueueIsNotOlderThanTheCall: what was granted through one member is seen through any other.
func TestQueueIsNotOlderThanTheCall(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		locker, looker := scene.Open(t, at.Members[0].Addr()+at.Root()),
			scene.Open(t, at.Members[len(at.Members)-1].Addr()+at.Root())
		for range 50 {
			lease := scene.Locked(t, locker.Mutex("/fresh").Lock)
			all := scene.QueueOf(t, looker, "/fresh")
			require.Len(t, all, 1)
			require.Equal(t, lease.Token(), all[0].Token)
			scene.GiveBack(t, lease)
			require.Empty(t, scene.QueueOf(t, looker, "/fresh"))
		}
	})
}

// TestQueueOfEachKind: who holds, who waits, and for whom.
func TestQueueOfEachKind(t *testing.T) {
	r, w, x, permit := scene.Reader, scene.Writer, scene.Exclusive, scene.Permits(1, 3)
	a, b := x.With(locks.WithName("a")), x.With(locks.WithName("b"))
	for name, c := range map[string]struct {
		came     []scene.Kind // those that hold first
		contends []messages.Contender
		waits    [][]int // for whom each waits; nobody: it holds
	}{
		"rw": {[]scene.Kind{r, r, w, r}, []messages.Contender{{Mode: messages.Read}, {Mode: messages.Read}, {Mode: messages.Write},
			{Mode: messages.Read}}, [][]int{nil, nil, {1}, {2}}},
		"permits": {[]scene.Kind{permit, permit, scene.Permits(2, 3), permit},
			[]messages.Contender{{Mode: messages.Semaphore, Weight: 1}, {Mode: messages.Semaphore, Weight: 1},
				{Mode: messages.Semaphore, Weight: 2}, {Mode: messages.Semaphore, Weight: 1}},
			[][]int{nil, nil, {0, 1}, {2}}}, // whichever of the two leaves first
		"names":   {[]scene.Kind{x, a, b}, []messages.Contender{{}, {Name: "a"}, {Name: "b"}}, [][]int{nil, nil, nil}},
		"contest": {[]scene.Kind{scene.Contest}, []messages.Contender{{Mode: messages.Contest}}, [][]int{nil}},
	} {
		t.Run(name, func(t *testing.T) {
			client := scene.OnEmbedded(t).Open(t)
			path := "/" + name
			var nodes []string
			var waiting []*scene.Waiter
			for i, kind := range c.came {
				if c.waits[i] == nil {
					nodes = append(nodes, kind.With(locks.WithLabel("it holds")).Holds(t, client, path).Node())
				} else {
					waiting = append(waiting, kind.Waits(t, client, path))
					nodes = append(nodes, scene.Await(t, waiting[len(waiting)-1].Rec, messages.StateWatching).Node)
				}
			}
			all := scene.QueueOf(t, client, path)
			require.Len(t, all, len(c.came))
			for i, got := range all {
				want := c.contends[i]
				require.Equal(t, nodes[i], got.Node)
				require.Equal(t, want.Mode, got.Mode)
				require.Equal(t, want.Weight, got.Weight)
				require.Equal(t, want.Name, got.Name)
				require.Equal(t, c.waits[i] == nil, got.Holds)
				require.Equal(t, got.Holds, got.Label == "it holds")
				require.Equal(t, messages.LibraryTurnstile, got.Library)
				require.Equal(t, client.Session().ID(), got.Session)
				var before []string
				for _, j := range c.waits[i] {
					before = append(before, nodes[j])
				}
				require.Equal(t, before, got.WaitsFor)
			}
			require.Equal(t, path == "/contest", all[0].At() == path)
		})
	}
}

// TestQueueKnowsOthersNodes: by their names and their data. It passes over nodes that are nobody's.
func TestQueueKnowsOthersNodes(t *testing.T) {
	const uuid, hex = "12345678-1234-1234-1234-123456789abc", "123456781234123412341234567890ab"
	at := scene.OnEmbedded(t)
	client, o := at.Open(t), scene.Look(t, at)
	o.Plant(t, "/mixed", "")
	var want []messages.Library
	for _, n := range []struct {
		prefix, data string
		library      messages.Library
	}{
		{"_c_" + uuid + "-lock-", "10.0.0.1", messages.LibraryCurator},
		{"_c_" + uuid + "-__READ__", "", messages.LibraryCurator},
		{"_c_" + uuid + "-lock-", "__REVOKE__", messages.LibraryCurator},
		{"_c_" + uuid + "-lock-", "unlock", messages.LibraryTurnstile},
		{"_c_" + hex + "-lock-", "", messages.LibraryGoZookeeper},
		{hex + "__lock__", "host", messages.LibraryKazoo},
		{hex + "__rlock__", "{\"host\":\"x\"}", messages.LibraryKazoo},
		{"read-", "", messages.LibraryRecipe},
		{"_c_what-lock-", "", messages.LibraryUnknown},
		{"x-lock-", `{"host":"h","pid":7,"mode":"exclusive","label":"theirs"}`, messages.LibraryTurnstile},
	} {
		_, err := o.Create(at.Root()+"/mixed/"+n.prefix, []byte(n.data), zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
		want = append(want, n.library)
	}
	for _, stranger := range []string{"config", "leases"} {
		o.Plant(t, "/mixed/"+stranger, "")
	}
	all := scene.QueueOf(t, client, "/mixed")
	var got []messages.Library
	for _, c := range all {
		got = append(got, c.Library)
		require.Equal(t, o.SessionID(), c.Session)
		require.Equal(t, c.Sequence == 2 || c.Sequence == 3, c.Asked, c.Node)
		require.False(t, c.Unread)
	}
	require.Equal(t, want, got)
	require.Equal(t, "theirs", all[9].Label)
	require.Equal(t, 7, all[9].PID)
	require.Equal(t, "", all[6].Host, "kazoo's data are not ours, whatever they look like")
	require.True(t, all[0].Holds)
	require.Equal(t, []string{all[0].Node}, all[1].WaitsFor)
}

// TestQueueShowsWhatItMayNotRead: with what the name and the server say without the data, among the others.
func TestQueueShowsWhatItMayNotRead(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		owner := at.Open(t, locks.WithAuth("digest", []byte("me:secret")),
			locks.WithACL(zk.DigestACL(zk.PermAll, "me", "secret")[0]), locks.WithParentACL(zk.WorldACL(zk.PermAll)...))
		lease := scene.Locked(t, owner.Mutex("/secret", locks.WithLabel("nobody's business")).Lock)
		stranger := at.Open(t)
		behind := scene.Exclusive.With(locks.WithLabel("behind")).Waits(t, stranger, "/secret")
		all := scene.QueueOf(t, stranger, "/secret")
		require.Len(t, all, 2)
		require.True(t, all[0].Unread)
		require.True(t, all[0].Holds)
		require.Empty(t, all[0].Label)
		require.Equal(t, messages.LibraryUnknown, all[0].Library)
		if existsNeedsRead(t, at) {
			require.Zero(t, all[0].Token)
			require.Zero(t, all[0].Session)
			require.Zero(t, all[0].Since)
			require.ErrorIs(t, stranger.Break(scene.Deadline(t), all[0]), actors.ErrBadAcquire)
		} else {
			require.Equal(t, lease.Token(), all[0].Token)
			require.Equal(t, owner.Session().ID(), all[0].Session)
			require.False(t, all[0].Since.IsZero())
		}
		require.Equal(t, "behind", all[1].Label)
		require.Equal(t, []string{all[0].Node}, all[1].WaitsFor)
		behind.Leave() // no event would tell it that the one before is gone
		require.ErrorIs(t, behind.Fails(t), context.Canceled)
		scene.GiveBack(t, lease)
	})
}

// existsNeedsRead reports whether the servers are of a version that says nothing of a node to somebody without READ: all
// since 3.8.4 and 3.9.2 (ZOOKEEPER-2590).
func existsNeedsRead(t *testing.T, zk *scene.Servers) bool {
	t.Helper()
	answer, err := zk.Members[0].FourLetter(scene.Deadline(t), "srvr")
	require.NoError(t, err)
	require.Contains(t, answer, "version: ")
	return !strings.Contains(answer, "version: 3.8.0-")
}

// TestQueueOutlastsTheSession: what was asked in one session is answered in the next.
func TestQueueOutlastsTheSession(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		proxy := at.Proxy(t)
		client, other := scene.Open(t, proxy.Addr()+at.Root()), at.Open(t)
		lease := scene.Locked(t, other.Mutex("/kept").Lock)
		before := client.Session().ID()
		proxy.Hold(true) // no answer comes in this session any more
		hurried, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := client.Queue(hurried, "/kept")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		got, asked := make(chan []messages.Contender, 1), proxy.Requests(rig.OpMulti)
		go func() {
			all, err := client.Queue(scene.Deadline(t), "/kept")
			assert.NoError(t, err)
			got <- all
		}()
		scene.Eventually(t, func() bool { return proxy.Requests(rig.OpMulti) > asked }, "it never asked")
		id, password, _ := proxy.Session()
		require.NoError(t, rig.ExpireSession(scene.Deadline(t), at.Members[0].Addr(), id, password))
		proxy.Cut()
		proxy.Hold(false)
		all := <-got
		require.Len(t, all, 1)
		require.Equal(t, lease.Node(), all[0].Node)
		require.NotEqual(t, before, client.Session().ID())
	})
}
