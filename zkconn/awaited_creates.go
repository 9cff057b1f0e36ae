package zkconn

import (
	"sync"
	"sync/atomic"
)

// Order without waiting for an answer. The library takes requests from a channel, in the order in which goroutines come
// to it: who starts one for a create and one for a listing cannot know which goes first. The transport sees them go.

// awaitedCreates are those under way whose callers want to know when they have gone out, by path (of the server, chroot
// included; of a transaction that of its first create).
type awaitedCreates struct {
	n   atomic.Int32 // so that nobody else pays for it
	mu  sync.Mutex
	all map[string]chan struct{}
}

// await registers a create; it must be called before the request is handed over. The channel is closed when it has gone
// out. done takes the registration back.
func (a *awaitedCreates) await(path string) (out <-chan struct{}, done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.all == nil {
		a.all = make(map[string]chan struct{})
	}
	gone := make(chan struct{})
	a.all[path] = gone
	a.n.Add(1)
	return gone, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.n.Add(-1)
		if a.all[path] == gone {
			delete(a.all, path)
		}
	}
}

// passes looks at a frame that goes out next.
func (a *awaitedCreates) passes(frame []byte) {
	if a.n.Load() == 0 {
		return
	}
	path, ok := createOf(frame)
	if !ok {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if gone := a.all[path]; gone != nil {
		delete(a.all, path)
		close(gone)
	}
}

// before runs create, and next as soon as the create of this path has gone out. It returns when both have. Which
// connection carries what next asks does not matter: who reads that the new node is there reads what came of the create.
func (c *Conn) before(absolute string, next, create func()) {
	gone, done := c.awaited.await(absolute)
	defer done()
	over := make(chan struct{})
	var following sync.WaitGroup
	following.Go(func() {
		select {
		case <-gone:
			next()
		case <-over:
			select {
			case <-gone:
				next()
			default:
			}
		}
	})
	create()
	close(over)
	following.Wait()
}
