package queues

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// awaitForced waits until a lease is taken away at the end of its grace.
func awaitForced(t *testing.T, lease *locks.Lease) {
	t.Helper()
	select {
	case <-lease.Context().Done():
		require.ErrorIs(t, context.Cause(lease.Context()), locks.ErrRevoked)
	case <-time.After(patient.Bound):
		t.Fatalf("%s is never released by force", lease.Path())
	}
	require.ErrorIs(t, lease.Unlock(patient.Deadline(t)), locks.ErrRevoked)
}

func nodesOf(all []messages.Contender) (nodes []string) {
	for _, c := range all {
		nodes = append(nodes, c.Node)
	}
	return nodes
}

// revocable are the kinds of locks, each with all who hold it together, and one who then waits.
var revocable = []struct {
	name    string
	holders []lockKind
	waiter  lockKind
}{
	{"exclusive", []lockKind{exclusively}, exclusively},
	{"readers", []lockKind{reading, reading, reading}, writing},
	{"writer", []lockKind{writing}, reading},
	{"semaphore", []lockKind{acquiring(1), acquiring(2)}, acquiring(1)},
	{"contest", []lockKind{contesting}, contesting},
}

// occupied has clients hold a kind of lock in turn, and the last of them wait for it.
func occupied(t *testing.T, path string, holders []lockKind, waiter lockKind, clients []*locks.Client,
	opts ...locks.LockOption) (held []*locks.Lease, got <-chan patient.Answer) {
	t.Helper()
	for i, lock := range holders {
		held = append(held, patient.Locked(t, lock(clients[i%len(clients)], path, opts...)))
	}
	last := clients[len(clients)-1]
	rec := patient.Recorder(t, last)
	got = patient.Elsewhere(patient.Deadline(t), waiter(last, path, patient.ObservedBy(rec)))
	patient.Await(t, rec, messages.StateWatching)
	return held, got
}

// TestRevokeAsksAllWhoHold: in every kind of lock, across sessions, all who hold are asked and told, and no waiter is.
func TestRevokeAsksAllWhoHold(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		one, two, asker := at.Open(t), at.Open(t), at.Open(t)
		for _, k := range revocable {
			t.Run(k.name, func(t *testing.T) {
				path := "/asked/" + k.name
				held, got := occupied(t, path, k.holders, k.waiter, []*locks.Client{one, two})
				var nodes []string
				for _, lease := range held {
					nodes = append(nodes, lease.Node())
				}
				asked, err := asker.Revoke(patient.Deadline(t), path)
				require.NoError(t, err)
				require.Equal(t, nodes, nodesOf(asked))
				for _, lease := range held {
					patient.AwaitAsked(t, lease)
					require.True(t, lease.Valid(), "asking takes nothing away")
				}
				for _, c := range patient.QueueOf(t, asker, path) {
					require.Equal(t, c.Holds, c.Asked, c.Node)
				}
				again, err := asker.Revoke(patient.Deadline(t), path)
				require.NoError(t, err)
				require.Equal(t, nodes, nodesOf(again))

				patient.GiveBack(t, held...)
				next := patient.Receive(t, got)
				require.NoError(t, next.Err)
				select {
				case <-next.Lease.Revoked():
					t.Fatal("a waiter was asked")
				default:
				}
				patient.GiveBack(t, next.Lease)
			})
		}
	})
}

// lockKind acquires one kind of lock.
type lockKind = func(c *locks.Client, path string, opts ...locks.LockOption) func(context.Context) (*locks.Lease, error)

func exclusively(c *locks.Client, path string, opts ...locks.LockOption) func(context.Context) (*locks.Lease, error) {
	return c.Mutex(path, opts...).Lock
}

func reading(c *locks.Client, path string, opts ...locks.LockOption) func(context.Context) (*locks.Lease, error) {
	return c.RWMutex(path, opts...).RLock
}

func writing(c *locks.Client, path string, opts ...locks.LockOption) func(context.Context) (*locks.Lease, error) {
	return c.RWMutex(path, opts...).Lock
}

func contesting(c *locks.Client, path string, opts ...locks.LockOption) func(context.Context) (*locks.Lease, error) {
	return c.Contest(path, opts...).Lock
}

// acquiring takes some permits of a semaphore of three.
func acquiring(n int) lockKind {
	return func(c *locks.Client, path string, opts ...locks.LockOption) func(context.Context) (*locks.Lease, error) {
		return func(ctx context.Context) (*locks.Lease, error) { return c.Semaphore(path, 3, opts...).Acquire(ctx, n) }
	}
}

// TestRevokeForcesWhoHasAGrace: a holder WithGrace is released by force, in every kind of lock,
// across sessions, and the waiter is let in.
func TestRevokeForcesWhoHasAGrace(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		one, two := at.Open(t), at.Open(t)
		for _, k := range revocable {
			t.Run(k.name, func(t *testing.T) {
				path := "/forced/" + k.name
				held, got := occupied(t, path, k.holders, k.waiter, []*locks.Client{one, two}, locks.WithGrace(time.Millisecond))
				_, err := two.Revoke(patient.Deadline(t), path)
				require.NoError(t, err)
				for _, lease := range held {
					awaitForced(t, lease)
				}
				next := patient.Receive(t, got)
				require.NoError(t, next.Err)
				patient.GiveBack(t, next.Lease)
			})
		}
	})
}

// TestRevokeSpeaksToEachInItsLanguage: Curator's holders hear Curator's word, all others the
// recipe's.
func TestRevokeSpeaksToEachInItsLanguage(t *testing.T) {
	const uuid = "12345678-1234-1234-1234-123456789abc"
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, o := at.Open(t), stories.Look(t, at)
		for path, n := range map[string]struct{ prefix, data, want string }{
			"/curator": {"_c_" + uuid + "-lock-", "10.0.0.1", "__REVOKE__"},
			"/recipe":  {"lock-", "", "unlock"},
			"/kazoo":   {"12345678123412341234123456789abc__lock__", "me", "unlock"},
			"/again":   {"_c_" + uuid + "-lock-", "__REVOKE__", "__REVOKE__"},
		} {
			o.Plant(t, path, "")
			node, err := o.Create(at.Root()+path+"/"+n.prefix, []byte(n.data), zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
			require.NoError(t, err)
			behind, err := o.Create(at.Root()+path+"/"+n.prefix, []byte(n.data), zk.FlagEphemeral|zk.FlagSequence, zk.WorldACL(zk.PermAll))
			require.NoError(t, err)
			asked, err := client.Revoke(patient.Deadline(t), path)
			require.NoError(t, err)
			require.Len(t, asked, 1)
			for node, want := range map[string]string{node: n.want, behind: n.data} {
				_, err = o.Sync(node)
				require.NoError(t, err)
				data, _, err := o.Get(node)
				require.NoError(t, err)
				require.Equal(t, want, string(data), node)
			}
		}
	})
}

// keeping are the kinds of holders whose nodes still name them after a revoke request.
var keeping = map[string]lockKind{"exclusive": exclusively, "reader": reading, "writer": writing, "semaphore": acquiring(2),
	"sticky": with(exclusively, locks.WithSticky(time.Hour)), "cohort": with(exclusively, locks.WithCohort(8)),
	"readers' cohort": with(reading, locks.WithCohort(8)), "contest": contesting}

func with(kind lockKind, more ...locks.LockOption) lockKind {
	return func(c *locks.Client, path string, opts ...locks.LockOption) func(context.Context) (*locks.Lease, error) {
		return kind(c, path, append(opts, more...)...)
	}
}

// TestRevokeKeepsWhoHolds: a reader of the queue sees who was asked: at once where Turnstile asks,
// and where another library's request has overwritten the node as soon as the holder has heard of
// it. One request is told once.
func TestRevokeKeepsWhoHolds(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		for name, kind := range keeping {
			for _, word := range []string{"", "__REVOKE__", "unlock"} {
				t.Run(name+word, func(t *testing.T) {
					holder, asker, path := at.Open(t), at.Open(t), "/kept/"+name+word
					h := &patient.Changes{}
					lease, err := kind(holder, path, locks.WithLabel("the holder"), locks.WithOnChange(h.Hear))(patient.Deadline(t))
					require.NoError(t, err)
					want := patient.QueueOf(t, asker, path)
					require.Len(t, want, 1)
					require.Equal(t, "the holder", want[0].Label)
					if word == "" {
						_, err = asker.Revoke(patient.Deadline(t), path)
					} else {
						_, err = at.Raw(t).Set(at.Root()+want[0].At(), []byte(word), -1)
					}
					require.NoError(t, err)
					want[0].Asked = true
					if word == "" {
						require.Equal(t, want, patient.QueueOf(t, asker, path), "at once")
					}
					patient.AwaitAsked(t, lease)
					var got []messages.Contender
					patient.Eventually(t, func() bool {
						got = patient.QueueOf(t, asker, path)
						return len(got) == 1 && got[0].Label != "" && got[0].Asked
					}, "it is not seen who holds")
					require.Equal(t, want, got)
					_, err = asker.Revoke(patient.Deadline(t), path)
					require.NoError(t, err)
					require.Equal(t, want, patient.QueueOf(t, asker, path), "and when it is asked again")
					patient.Eventually(t, func() bool { return len(h.Kinds()) > 0 }, "nobody is told")
					patient.GiveBack(t, lease)
					stories.AwaitNone(t, at, path)
					require.Equal(t, []locks.ChangeKind{locks.RevokeRequested}, h.Kinds())
				})
			}
		}
	})
}

// TestRevokeOfWhatNobodyHolds: says so, and makes nothing.
func TestRevokeOfWhatNobodyHolds(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		client, o := at.Open(t), stories.Look(t, at)
		o.Plant(t, "/empty", "a note")
		o.Plant(t, "/strangers/config", "")
		for _, path := range []string{"/never/made", "/empty", "/strangers"} {
			asked, err := client.Revoke(patient.Deadline(t), path)
			require.ErrorIs(t, err, locks.ErrNotHolding)
			require.ErrorContains(t, err, path)
			require.Empty(t, asked)
		}
		require.Equal(t, []string{"empty", "strangers"}, at.Children(t, o.Conn, ""))
		data, _, err := o.Get(at.Root() + "/empty")
		require.NoError(t, err)
		require.Equal(t, "a note", string(data))
	})
}

// TestRevokeOfWhoMayNotBeWritten: the others are asked all the same.
func TestRevokeOfWhoMayNotBeWritten(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		open1 := at.Open(t)
		closed := at.Open(t, locks.WithACL(zk.WorldACL(zk.PermRead)...),
			locks.WithParentACL(zk.WorldACL(zk.PermAll)...))
		one := patient.Locked(t, open1.RWMutex("/some").RLock)
		two := patient.Locked(t, closed.RWMutex("/some").RLock)
		three := patient.Locked(t, open1.RWMutex("/some").RLock)
		asked, err := at.Open(t).Revoke(patient.Deadline(t), "/some")
		require.ErrorIs(t, err, zkconn.ErrNoAuth)
		require.Equal(t, []string{one.Node(), three.Node()}, nodesOf(asked))
		patient.AwaitAsked(t, one)
		patient.AwaitAsked(t, three)
		patient.GiveBack(t, one, two, three)
	})
}
