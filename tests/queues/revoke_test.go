package queues

import (
	"context"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// occupied has clients hold a kind of lock in turn, and the last of them wait for it.
func (k contended) occupied(t *testing.T, path string, clients []*locks.Client, opts ...locks.LockOption) (held []*locks.Lease,
	next *scene.Waiter) {
	t.Helper()
	for i, kind := range k.holders {
		held = append(held, kind.With(opts...).Holds(t, clients[i%len(clients)], path))
	}
	return held, k.waiter.Waits(t, clients[len(clients)-1], path)
}

// contended is a kind of lock: all who hold it together, and one who then waits.
type contended struct {
	holders []scene.Kind
	waiter  scene.Kind
}

var revocable = map[string]contended{
	"exclusive": {[]scene.Kind{scene.Exclusive}, scene.Exclusive},
	"readers":   {[]scene.Kind{scene.Reader, scene.Reader, scene.Reader}, scene.Writer},
	"writer":    {[]scene.Kind{scene.Writer}, scene.Reader},
	"semaphore": {[]scene.Kind{scene.Permits(1, 3), scene.Permits(2, 3)}, scene.Permits(3, 3)},
	"contest":   {[]scene.Kind{scene.Contest}, scene.Contest},
}

func nodesOf(all []messages.Contender) (nodes []string) {
	for _, c := range all {
		nodes = append(nodes, c.Node)
	}
	return nodes
}

// TestRevokeAsksAllWhoHold: in every kind of lock, across sessions, all who hold are asked and told, and no waiter is.
func TestRevokeAsksAllWhoHold(t *testing.T) {
	scene.EachServer(t, func(t *testing.T, at *scene.Servers) {
		one, two, asker := at.Open(t), at.Open(t), at.Open(t)
		for name, k := range revocable {
			t.Run(name, func(t *testing.T) {
				path := "/asked/" + name
				held, next := k.occupied(t, path, []*locks.Client{one, two})
				var nodes []string
				for _, lease := range held {
					nodes = append(nodes, lease.Node())
				}
				for range 2 {
					asked, err := asker.Revoke(scene.Deadline(t), path)
					require.NoError(t, err)
					require.Equal(t, nodes, nodesOf(asked))
				}
				for _, lease := range held {
					scene.AwaitAsked(t, lease)
				}
				for _, c := range scene.QueueOf(t, asker, path) {
					require.Equal(t, c.Holds, c.Asked, c.Node)
				}
				scene.GiveBack(t, held...) // asking has taken nothing away
				lease := next.Granted(t)
				select {
				case <-lease.Revoked():
					t.Fatal("a waiter was asked")
				default:
				}
				scene.GiveBack(t, lease)
			})
		}
	})
}

// TestRevokeForcesWhoHasAGrace: in every kind of lock. The lease is over before the next holds, in this process or another.
func TestRevokeForcesWhoHasAGrace(t *testing.T) {
	at := scene.OnEmbedded(t)
	one, two := at.Open(t), at.Open(t)
	for name, k := range revocable {
		for _, waits := range []*locks.Client{one, two} {
			path := "/forced/" + name
			held, next := k.occupied(t, path, []*locks.Client{one, waits}, locks.WithGrace(time.Millisecond))
			_, err := two.Revoke(scene.Deadline(t), path)
			require.NoError(t, err)
			lease := next.Granted(t)
			for _, forced := range held {
				require.False(t, forced.Valid(), name)
				require.ErrorIs(t, context.Cause(forced.Context()), locks.ErrRevoked, name)
				require.ErrorIs(t, forced.Unlock(scene.Deadline(t)), locks.ErrRevoked, name)
			}
			scene.GiveBack(t, lease)
		}
	}
}

// TestRevokeSpeaksToEachInItsLanguage: Curator's holders hear Curator's word, all others the
// recipe's.
func TestRevokeSpeaksToEachInItsLanguage(t *testing.T) {
	const uuid = "12345678-1234-1234-1234-123456789abc"
	at := scene.OnEmbedded(t)
	client, o := at.Open(t), scene.Look(t, at)
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
		asked, err := client.Revoke(scene.Deadline(t), path)
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
}

// TestRevokeKeepsWhoHolds: a reader of the queue sees who was asked: at once where Turnstile asks,
// and where another library's request has overwritten the node as soon as the holder has heard of
// it. One request is told once.
func TestRevokeKeepsWhoHolds(t *testing.T) {
	at := scene.OnEmbedded(t)
	holder, asker := at.Open(t), at.Open(t)
	exclusive, cohort := scene.Exclusive, locks.WithCohort(8)
	for name, kind := range map[string]scene.Kind{
		"exclusive": exclusive, "reader": scene.Reader, "writer": scene.Writer, "semaphore": scene.Permits(2, 3),
		"contest": scene.Contest, "sticky": exclusive.With(locks.WithSticky(time.Hour)), "cohort": exclusive.With(cohort),
		"readers' cohort": scene.Reader.With(cohort),
	} {
		for _, word := range []string{"", "__REVOKE__", "unlock"} {
			t.Run(name+word, func(t *testing.T) {
				path, h := "/kept/"+name+word, &scene.Changes{}
				lease := kind.With(locks.WithLabel("the holder"), locks.WithOnChange(h.Hear)).Holds(t, holder, path)
				want := scene.QueueOf(t, asker, path)
				require.Len(t, want, 1)
				require.Equal(t, "the holder", want[0].Label)
				if word == "" {
					_, err := asker.Revoke(scene.Deadline(t), path)
					require.NoError(t, err)
				} else {
					scene.Look(t, at).Write(t, "", want[0].At()[1:], word)
				}
				want[0].Asked = true
				if word == "" {
					require.Equal(t, want, scene.QueueOf(t, asker, path), "at once")
				}
				scene.AwaitAsked(t, lease)
				scene.Eventually(t, func() bool { return reflect.DeepEqual(want, scene.QueueOf(t, asker, path)) },
					"it is not seen who holds")
				_, err := asker.Revoke(scene.Deadline(t), path)
				require.NoError(t, err)
				require.Equal(t, want, scene.QueueOf(t, asker, path), "and when it is asked again")
				scene.Eventually(t, func() bool { return len(h.Kinds()) > 0 }, "nobody is told")
				scene.GiveBack(t, lease)
				scene.AwaitNone(t, at, path)
				require.Equal(t, []locks.ChangeKind{locks.RevokeRequested}, h.Kinds())
			})
		}
	}
}

// TestRevokeOfWhatNobodyHolds: says so, and makes nothing.
func TestRevokeOfWhatNobodyHolds(t *testing.T) {
	at := scene.OnEmbedded(t)
	client, o := at.Open(t), scene.Look(t, at)
	o.Plant(t, "/empty", "a note")
	o.Plant(t, "/strangers/config", "")
	for _, path := range []string{"/never/made", "/empty", "/strangers"} {
		asked, err := client.Revoke(scene.Deadline(t), path)
		require.ErrorIs(t, err, locks.ErrNotHolding)
		require.ErrorContains(t, err, path)
		require.Empty(t, asked)
	}
	require.Equal(t, []string{"empty", "strangers"}, at.Children(t, o.Conn, ""))
	data, _, err := o.Get(at.Root() + "/empty")
	require.NoError(t, err)
	require.Equal(t, "a note", string(data))
}

// TestRevokeOfWhoMayNotBeWritten: the others are asked all the same.
func TestRevokeOfWhoMayNotBeWritten(t *testing.T) {
	at := scene.OnEmbedded(t)
	open1 := at.Open(t)
	closed := at.Open(t, locks.WithACL(zk.WorldACL(zk.PermRead)...),
		locks.WithParentACL(zk.WorldACL(zk.PermAll)...))
	one := scene.Locked(t, open1.RWMutex("/some").RLock)
	two := scene.Locked(t, closed.RWMutex("/some").RLock)
	three := scene.Locked(t, open1.RWMutex("/some").RLock)
	asked, err := at.Open(t).Revoke(scene.Deadline(t), "/some")
	require.ErrorIs(t, err, zkconn.ErrNoAuth)
	require.Equal(t, []string{one.Node(), three.Node()}, nodesOf(asked))
	scene.AwaitAsked(t, one)
	scene.AwaitAsked(t, three)
	scene.GiveBack(t, one, two, three)
}

// slowToHear is a listener that takes its time to hear that its lock is taken away.
type slowToHear struct{ forced atomic.Bool }

func (*slowToHear) Moved(messages.State, string) {}

func (s *slowToHear) Hear(_ *actor.PID, notice any) {
	if _, revoked := notice.(*messages.Revoked); revoked {
		time.Sleep(100 * time.Millisecond)
		s.forced.Store(true)
	}
}

// TestForceIsHeardBeforeTheNextHolds: the node of a lock that is given back by force is not deleted
// before the holder's listener has heard of it.
func TestForceIsHeardBeforeTheNextHolds(t *testing.T) {
	at := scene.OnEmbedded(t)
	s, others := scene.NewStage(t, at.Connect()), scene.NewStage(t, at.Connect())
	listener := &slowToHear{}
	holder := s.SpawnFor(t, messages.Acquire{Path: "/forced", Grace: time.Millisecond}, actors.WithListener(listener))
	holder.Hold(t)
	next := others.Spawn(t, "/forced")
	scene.Await(t, next.Rec, messages.StateWatching)
	require.False(t, listener.forced.Load())
	holder.Send(&messages.Revoke{})
	next.Hold(t)
	require.True(t, listener.forced.Load())
}
