package kinds

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// register is an account of a semaphore from outside: who came in and who left, by token, in the order in which
// it was told.
type register struct {
	mu      sync.Mutex
	moved   *sync.Cond
	inside  map[messages.Token]bool
	entries []entry
	came    int
	most    int
}

// entry is one arrival or departure.
type entry struct {
	token messages.Token
	in    bool
}

func newRegister() *register {
	r := &register{inside: map[messages.Token]bool{}}
	r.moved = sync.NewCond(&r.mu)
	return r
}

// enter notes a holder, and keeps it until as many are inside as there are permits, or all of a number have come.
func (r *register) enter(token messages.Token, permits, of int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inside[token] = true
	r.entries = append(r.entries, entry{token, true})
	r.came++
	r.most = max(r.most, len(r.inside))
	r.moved.Broadcast()
	for len(r.inside) < permits && r.came < of {
		r.moved.Wait()
	}
}

// fail counts one that never comes, so that the others do not wait for it.
func (r *register) fail() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.came++
	r.moved.Broadcast()
}

// leave notes a holder's departure, which it does before it gives its permit back.
func (r *register) leave(token messages.Token) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.inside, token)
	r.entries = append(r.entries, entry{token, false})
}

// requireOrder checks the account by the rule: each holder fits with all contenders that came
// before it and have not left. So permits are never overdrawn, and nobody is overtaken.
func (r *register) requireOrder(t *testing.T, permits int) {
	t.Helper()
	left := map[messages.Token]bool{}
	for _, e := range r.entries {
		if !e.in {
			left[e.token] = true
			continue
		}
		before := 0
		for _, other := range r.entries {
			if other.in && other.token < e.token && !left[other.token] {
				before++
			}
		}
		require.Less(t, before, permits, "%v came in while so many before it had not left", e.token)
	}
}

// TestSemaphoreHoldsNoMoreThanItHas: 5 permits, 200 contenders over 4 sessions. All are served in order, and
// nobody had to be found by the slow re-list.
func TestSemaphoreHoldsNoMoreThanItHas(t *testing.T) {
	const permits, sessions, each = 5, 4, 50
	stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
		hall := newRegister()
		var clients []*locks.Client
		var all sync.WaitGroup
		for range sessions {
			client := zk.Open(t)
			clients = append(clients, client)
			for range each {
				all.Go(func() {
					lease, err := client.Semaphore("/sem", permits).Acquire(patient.Deadline(t), 1)
					if !assert.NoError(t, err) {
						hall.fail()
						return
					}
					hall.enter(lease.Token(), permits, sessions*each)
					hall.leave(lease.Token())
					assert.NoError(t, lease.Unlock(patient.Deadline(t)))
				})
			}
		}
		all.Wait()
		require.Equal(t, sessions*each, hall.came)
		require.Equal(t, permits, hall.most)
		hall.requireOrder(t, permits)
		for _, client := range clients {
			require.Zero(t, client.Session().Counters().Polls, "a waiter was not told that its turn had come")
		}
		stories.AwaitNone(t, zk, "/sem")
	})
}
