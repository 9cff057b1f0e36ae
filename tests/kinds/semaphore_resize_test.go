package kinds

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// TestPermitsAreReadBehindTheQueue: a contender holds by a number that stood there when its node was there already. So
// it waits where the number was made smaller while it read the queue.
func TestPermitsAreReadBehindTheQueue(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		client, proxy := zk.Open(t), zk.Proxy(t)
		late := patient.Open(t, proxy.Addr()+zk.Root())
		holder, err := client.Semaphore("/behind", 2).Acquire(patient.Deadline(t), 1)
		require.NoError(t, err)
		listing := proxy.Expect(rig.Rule{Op: rig.OpGetChildren2, Action: rig.Delay,
			Path: func(path string) bool { return strings.HasSuffix(path, "/behind") }})
		rec := patient.Recorder(t, late)
		waiting := patient.Elsewhere(patient.Deadline(t), permitsOf(late.Semaphore("/behind", 2, patient.ObservedBy(rec)), 1))
		stories.AwaitFault(t, listing, waiting)
		require.NoError(t, client.SetPermits(patient.Deadline(t), "/behind", 1))
		patient.CatchUp(t, patient.Open(t, zk.Members[0].Addr()+zk.Root())) // the server that it asks knows
		listing.Release()
		patient.Await(t, rec, messages.StateWatching)
		require.Empty(t, waiting)
		patient.GiveBack(t, holder)
		got := patient.Receive(t, waiting)
		require.NoError(t, got.Err)
		patient.GiveBack(t, got.Lease)
	})
}

// TestResizedWhileAWaiterIsCutOff: it has lost its watches, and goes by the number that it finds when it is back.
func TestResizedWhileAWaiterIsCutOff(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		client, proxy := zk.Open(t), zk.Proxy(t)
		late := patient.Open(t, proxy.Addr()+zk.Root())
		var holders []*locks.Lease
		for range 2 {
			lease, err := client.Semaphore("/cut-off", 2).Acquire(patient.Deadline(t), 1)
			require.NoError(t, err)
			holders = append(holders, lease)
		}
		waiting := queueUp(t, late, "/cut-off", 2, 1, messages.StateWatching)
		cutOff := func(permits int) {
			proxy.Refuse(true)
			proxy.Cut()
			awaitPhase(t, late, actors.Disconnected)
			require.NoError(t, client.SetPermits(patient.Deadline(t), "/cut-off", permits))
			proxy.Refuse(false)
			awaitPhase(t, late, actors.Connected)
		}
		cutOff(1)
		patient.GiveBack(t, holders[0])
		patient.CatchUp(t, late)
		require.Empty(t, waiting, "one holds, and there is one permit")
		cutOff(2)
		got := patient.Receive(t, waiting)
		require.NoError(t, got.Err)
		require.True(t, holders[1].Valid(), "holders go on")
		patient.GiveBack(t, got.Lease, holders[1])
	})
}

func awaitPhase(t *testing.T, client *locks.Client, phase actors.Phase) {
	t.Helper()
	for ctx := patient.Deadline(t); ; {
		state, changed := client.Session().Connection()
		if state.Phase == phase {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			require.FailNow(t, "the session does not get there", "%v", phase)
		}
	}
}

// numbers are the numbers of permits that stood at a lock path, in order, and who holds.
type numbers struct {
	mu      sync.Mutex
	numbers []number
	inside  map[messages.Token]int // how many permits
	many    int
}

// number stood from its zxid on; zero while nobody knows whether it is set.
type number struct {
	zxid    int64
	permits int
}

// enter notes a holder, and checks the rule: all holders together have no more permits than the greatest number that
// stood since the last of them made its node.
func (s *numbers) enter(t *testing.T, lease *locks.Lease, permits int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inside[lease.Token()] = permits
	var newest messages.Token
	taken, most := 0, 0
	for token, n := range s.inside {
		newest, taken = max(newest, token), taken+n
	}
	for i, n := range s.numbers {
		if next := i + 1; next == len(s.numbers) || s.numbers[next].zxid == 0 || s.numbers[next].zxid > newest.Zxid() {
			most = max(most, n.permits)
		}
	}
	s.many = max(s.many, taken)
	assert.LessOrEqual(t, taken, most, "since %v there stood no more: %v", newest, s.numbers)
}

func (s *numbers) leave(lease *locks.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.inside, lease.Token())
}

// set makes the number another one.
func (s *numbers) set(t *testing.T, o stories.Outside, path string, permits int) {
	s.mu.Lock()
	s.numbers = append(s.numbers, number{permits: permits})
	s.mu.Unlock()
	stat, err := o.Set(o.At.Root()+path, []byte(fmt.Sprint(permits)), -1)
	require.NoError(t, err)
	s.mu.Lock()
	s.numbers[len(s.numbers)-1].zxid = stat.Mzxid
	s.mu.Unlock()
}

// TestNeverMorePermitsThanStood: contenders of several sessions, light and heavy, each with a number of its own, while
// the number changes. All are served, and no waiter had to find out by itself, also once the number stays.
func TestNeverMorePermitsThanStood(t *testing.T) {
	const path, sessions, callers, cycles, resizes = "/resized", 3, 6, 5, 20
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		o, s := stories.Look(t, zk), &numbers{inside: map[messages.Token]int{}}
		o.Plant(t, path, "")
		s.set(t, o, path, 4)
		var all sync.WaitGroup
		var clients []*locks.Client
		over := make(chan struct{})
		for i := range sessions {
			client := zk.Open(t)
			clients = append(clients, client)
			for j := range callers {
				semaphore, n := client.Semaphore(path, 1+i+j), 1+j%3
				all.Go(func() {
					for range cycles {
						lease, err := semaphore.Acquire(patient.Deadline(t), n)
						if !assert.NoError(t, err) {
							return
						}
						s.enter(t, lease, n)
						patient.CatchUp(t, client)
						s.leave(lease)
						assert.NoError(t, lease.Unlock(patient.Deadline(t)))
					}
				})
			}
		}
		go func() {
			defer close(over)
			all.Wait()
		}()
		for range resizes {
			s.set(t, o, path, 3+rand.IntN(8))
			patient.CatchUp(t, clients[0])
		}
		patient.Receive(t, over)
		require.Greater(t, s.many, 1)
		for _, client := range clients {
			require.Zero(t, client.Session().Counters().Polls, "a waiter was not told that its turn had come")
		}
		stories.AwaitNone(t, zk, path)
	})
}

// TestPermits are read, and followed over a loss of the connection.
func TestPermits(t *testing.T) {
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		client, proxy, o := zk.Open(t), zk.Proxy(t), stories.Look(t, zk)
		late := patient.Open(t, proxy.Addr()+zk.Root())
		told, err := late.ObservePermits(patient.Deadline(t), "/read")
		require.NoError(t, err)
		require.Zero(t, patient.Receive(t, told), "there is no such path")
		hears := func(permits int) {
			t.Helper()
			require.Equal(t, permits, patient.Receive(t, told))
			now, err := client.Permits(patient.Deadline(t), "/read")
			require.NoError(t, err)
			require.Equal(t, permits, now)
		}
		lease, err := client.Semaphore("/read", 3).Acquire(patient.Deadline(t), 1)
		require.NoError(t, err)
		hears(3) // not of the path, which is made first
		require.NoError(t, client.SetPermits(patient.Deadline(t), "/read", 5))
		hears(5)
		proxy.Refuse(true)
		proxy.Cut()
		awaitPhase(t, late, actors.Disconnected)
		require.NoError(t, client.SetPermits(patient.Deadline(t), "/read", 2))
		proxy.Refuse(false)
		hears(2)
		patient.GiveBack(t, lease)

		o.Plant(t, "/spoilt", "many")
		_, err = client.Permits(patient.Deadline(t), "/spoilt")
		require.ErrorIs(t, err, locks.ErrPermits)
		require.ErrorContains(t, err, "many")
		spoilt, err := client.ObservePermits(t.Context(), "/spoilt")
		require.NoError(t, err)
		select {
		case n, more := <-spoilt:
			require.False(t, more, "%d", n)
		case <-time.After(patient.Bound):
			require.Fail(t, "it is followed on")
		}
		_, err = client.Permits(patient.Deadline(t), "bad")
		require.ErrorIs(t, err, zkconn.ErrBadPath)
	})
}

// TestFollowersHearOfPermits: who follows a semaphore's queue hears of its number, too, and who reads the locks below a
// root.
func TestFollowersHearOfPermits(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, zk *stories.Servers) {
		client := zk.Open(t)
		lease, err := client.Semaphore("/followed", 3).Acquire(patient.Deadline(t), 2)
		require.NoError(t, err)
		queues := make(chan *messages.Queue, 8)
		follower := client.System().Root.Spawn(actor.PropsFromFunc(func(a actor.Context) {
			switch msg := a.Message().(type) {
			case *actor.Started:
				a.Request(client.Session().PID(), &messages.Follow{Path: "/followed"})
			case *messages.Queue:
				queues <- msg
			}
		}))
		defer client.System().Root.Stop(follower)
		require.Equal(t, 3, patient.Receive(t, queues).Permits)
		require.NoError(t, client.SetPermits(patient.Deadline(t), "/followed", 1))
		q := patient.Receive(t, queues)
		for q.Permits != 1 {
			q = patient.Receive(t, queues)
		}
		require.Len(t, q.Contenders, 1)
		require.True(t, q.Contenders[0].Holds, "it holds more than there are by now")
		require.Empty(t, q.Contenders[0].WaitsFor)
		tree, err := client.Locks(patient.Deadline(t), "/")
		require.NoError(t, err)
		require.Equal(t, []messages.LockCount{{Path: "/followed", Holders: 0, Waiters: 1, Permits: 1}}, tree.Locks)
		patient.GiveBack(t, lease)
	})
}
