package queues

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// lockWith is a lock's Lock, with options.
type lockWith = func(...locks.LockOption) func(context.Context) (*locks.Lease, error)

// waiting locks elsewhere, and returns when the request waits.
func waiting(t *testing.T, client *locks.Client, lock lockWith) (<-chan patient.Answer, messages.Transition) {
	t.Helper()
	rec := patient.Recorder(t, client)
	got := patient.Elsewhere(patient.Deadline(t), lock(patient.ObservedBy(rec)))
	return got, patient.Await(t, rec, messages.StateWatching)
}

// mutexOf is for waiting: the mutex at a path.
func mutexOf(client *locks.Client, path string, more ...locks.LockOption) lockWith {
	return func(opts ...locks.LockOption) func(context.Context) (*locks.Lease, error) {
		return client.Mutex(path, append(opts, more...)...).Lock
	}
}

func TestQueueTellsWhoHoldsAndWhoWaits(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		one, two, other := at.Open(t), at.Open(t), at.Open(t)
		begun := time.Now()
		held := patient.Locked(t, one.Mutex("/orders/42", locks.WithLabel("billing")).Lock)
		got, waiter := waiting(t, two, mutexOf(two, "/orders/42"))

		all := patient.QueueOf(t, other, "/orders/42")
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

		patient.GiveBack(t, held)
		a := patient.Receive(t, got)
		require.NoError(t, a.Err)
		all = patient.QueueOf(t, other, "/orders/42")
		require.Len(t, all, 1)
		require.True(t, all[0].Holds)
		patient.GiveBack(t, a.Lease)
		require.Empty(t, patient.QueueOf(t, other, "/orders/42"))
		require.Empty(t, patient.QueueOf(t, other, "/never/made"))
	})
}

// TestQueueIsNotOlderThanTheCall: what was granted through one member is seen through any other.
func TestQueueIsNotOlderThanTheCall(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		locker, looker := patient.Open(t, at.Members[0].Addr()+at.Root()),
			patient.Open(t, at.Members[len(at.Members)-1].Addr()+at.Root())
		for range 50 {
			lease := patient.Locked(t, locker.Mutex("/fresh").Lock)
			all := patient.QueueOf(t, looker, "/fresh")
			require.Len(t, all, 1)
			require.Equal(t, lease.Token(), all[0].Token)
			patient.GiveBack(t, lease)
			require.Empty(t, patient.QueueOf(t, looker, "/fresh"))
		}
	})
}

func TestQueueOfReadersAndWriters(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client := at.Open(t)
		one := patient.Locked(t, client.RWMutex("/rw").RLock)
		two := patient.Locked(t, client.RWMutex("/rw").RLock)
		w, writer := waiting(t, client, func(opts ...locks.LockOption) func(context.Context) (*locks.Lease, error) {
			return client.RWMutex("/rw", opts...).Lock
		})
		r, reader := waiting(t, client, func(opts ...locks.LockOption) func(context.Context) (*locks.Lease, error) {
			return client.RWMutex("/rw", opts...).RLock
		})
		all := patient.QueueOf(t, client, "/rw")
		require.Len(t, all, 4)
		for i, want := range []struct {
			node  string
			mode  messages.Mode
			waits []string
		}{
			{one.Node(), messages.Read, nil}, {two.Node(), messages.Read, nil},
			{writer.Node, messages.Write, []string{two.Node()}}, {reader.Node, messages.Read, []string{writer.Node}},
		} {
			require.Equal(t, want.node, all[i].Node)
			require.Equal(t, want.mode, all[i].Mode)
			require.Equal(t, want.waits, all[i].WaitsFor)
			require.Equal(t, want.waits == nil, all[i].Holds)
		}
		patient.GiveBack(t, one, two)
		patient.GiveBack(t, patient.Receive(t, w).Lease)
		patient.GiveBack(t, patient.Receive(t, r).Lease)
	})
}

func TestQueueOfASemaphore(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client := at.Open(t)
		acquire := func(n int) func(...locks.LockOption) func(context.Context) (*locks.Lease, error) {
			return func(opts ...locks.LockOption) func(context.Context) (*locks.Lease, error) {
				return func(ctx context.Context) (*locks.Lease, error) {
					return client.Semaphore("/sem", 3, opts...).Acquire(ctx, n)
				}
			}
		}
		a, err := acquire(1)()(patient.Deadline(t))
		require.NoError(t, err)
		b, err := acquire(1)()(patient.Deadline(t))
		require.NoError(t, err)
		c, third := waiting(t, client, acquire(2))
		d, fourth := waiting(t, client, acquire(1))
		all := patient.QueueOf(t, client, "/sem")
		require.Len(t, all, 4)
		require.True(t, all[0].Holds && all[1].Holds && !all[2].Holds && !all[3].Holds)
		require.Equal(t, []int{1, 1, 2, 1}, []int{all[0].Weight, all[1].Weight, all[2].Weight, all[3].Weight})
		require.Equal(t, []string{a.Node(), b.Node()}, all[2].WaitsFor, "whichever leaves first")
		require.Equal(t, []string{third.Node}, all[3].WaitsFor)
		require.Equal(t, fourth.Node, all[3].Node)
		require.Equal(t, messages.Semaphore, all[3].Mode)
		patient.GiveBack(t, a, b)
		patient.GiveBack(t, patient.Receive(t, c).Lease)
		patient.GiveBack(t, patient.Receive(t, d).Lease)
	})
}

func TestQueueOfAContest(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client := at.Open(t)
		lease := patient.Locked(t, client.Contest("/deep/plain", locks.WithLabel("one")).Lock)
		all := patient.QueueOf(t, client, "/deep/plain")
		require.Len(t, all, 1)
		require.Equal(t, messages.Contest, all[0].Mode)
		require.Equal(t, "plain", all[0].Node)
		require.Equal(t, "/deep/plain", all[0].At())
		require.Equal(t, lease.Token(), all[0].Token)
		require.Equal(t, client.Session().ID(), all[0].Session)
		require.Equal(t, "one", all[0].Label)
		require.Equal(t, messages.LibraryTurnstile, all[0].Library)
		require.True(t, all[0].Holds)
		patient.GiveBack(t, lease)
		require.Empty(t, patient.QueueOf(t, client, "/deep/plain"))
	})
}

// TestQueueWithNames: each is a queue of its own.
func TestQueueWithNames(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client := at.Open(t)
		for _, name := range []string{"b", "a", ""} {
			var opts []locks.LockOption
			if name != "" {
				opts = append(opts, locks.WithName(name))
			}
			patient.Locked(t, client.Mutex("/names", opts...).Lock)
		}
		all := patient.QueueOf(t, client, "/names")
		require.Len(t, all, 3)
		for i, name := range []string{"", "a", "b"} {
			require.Equal(t, name, all[i].Name)
			require.True(t, all[i].Holds)
			require.Equal(t, messages.LibraryTurnstile, all[i].Library)
		}
	})
}

// TestQueueKnowsOthersNodes: by their names and their data. It passes over nodes that are nobody's.
func TestQueueKnowsOthersNodes(t *testing.T) {
	const uuid, hex = "12345678-1234-1234-1234-123456789abc", "123456781234123412341234567890ab"
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, o := at.Open(t), stories.Look(t, at)
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
		all := patient.QueueOf(t, client, "/mixed")
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
	})
}

// TestQueueShowsWhatItMayNotRead: with what the name and the server say without the data, among the others.
func TestQueueShowsWhatItMayNotRead(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		owner := at.Open(t, locks.WithAuth("digest", []byte("me:secret")),
			locks.WithACL(zk.DigestACL(zk.PermAll, "me", "secret")[0]), locks.WithParentACL(zk.WorldACL(zk.PermAll)...))
		lease := patient.Locked(t, owner.Mutex("/secret", locks.WithLabel("nobody's business")).Lock)
		stranger := at.Open(t)
		ctx, giveUp := context.WithCancel(patient.Deadline(t))
		defer giveUp()
		rec := patient.Recorder(t, stranger)
		behind := patient.Elsewhere(ctx, stranger.Mutex("/secret", locks.WithLabel("behind"), patient.ObservedBy(rec)).Lock)
		patient.Await(t, rec, messages.StateWatching)
		all := patient.QueueOf(t, stranger, "/secret")
		require.Len(t, all, 2)
		require.True(t, all[0].Unread)
		require.True(t, all[0].Holds)
		require.Empty(t, all[0].Label)
		require.Equal(t, messages.LibraryUnknown, all[0].Library)
		if existsNeedsRead(t, at) {
			require.Zero(t, all[0].Token)
			require.Zero(t, all[0].Session)
			require.Zero(t, all[0].Since)
			require.ErrorIs(t, stranger.Break(patient.Deadline(t), all[0]), actors.ErrBadAcquire)
		} else {
			require.Equal(t, lease.Token(), all[0].Token)
			require.Equal(t, owner.Session().ID(), all[0].Session)
			require.False(t, all[0].Since.IsZero())
		}
		require.Equal(t, "behind", all[1].Label)
		require.Equal(t, []string{all[0].Node}, all[1].WaitsFor)
		giveUp() // no event would tell it that the one before is gone
		require.ErrorIs(t, patient.Receive(t, behind).Err, context.Canceled)
		patient.GiveBack(t, lease)
	})
}

// existsNeedsRead reports whether the servers are of a version that says nothing of a node to somebody without READ: all
// since 3.8.4 and 3.9.2 (ZOOKEEPER-2590).
func existsNeedsRead(t *testing.T, zk *stories.Servers) bool {
	t.Helper()
	answer, err := zk.Members[0].FourLetter(patient.Deadline(t), "srvr")
	require.NoError(t, err)
	require.Contains(t, answer, "version: ")
	return !strings.Contains(answer, "version: 3.8.0-")
}
