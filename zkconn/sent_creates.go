package zkconn

import (
	"errors"
	"sync"
	"sync/atomic"
)

// Pipelining: order without waiting for an answer. The library takes requests from a channel, in the order in which goroutines come
// to it. A caller that starts one for a create and one for a listing cannot know which goes first. The transport can.

// awaitedCreates are the creates under way whose callers want to know when they have gone out, by
// the path at the server, chroot included. A transaction is known by the path of its first create.
type awaitedCreates struct {
	n   atomic.Int32 // their number, so that other requests take no mutex
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

// births learns the czxid of nodes that are made. The header of the reply to a create, or to a
// transaction that was carried out, has the zxid of the transaction, which is the czxid of the
// nodes that it made: FinalRequestProcessor takes it when it has applied the transaction, before
// any read is served (tests/touches compares). The library drops it; the transport sees it. So
// nobody has to look at a new node, which its own session may not be allowed to read.
type births struct {
	n        atomic.Int32 // of registrations, so that other requests take no mutex
	mu       sync.Mutex
	expected map[string]*birth    // by the path in the request (of the server, chroot included)
	sent     map[int32]sentCreate // by the number of the request
}

// birth collects the czxids of nodes that requests for one path make.
type birth struct {
	path   string
	users  int
	xids   []int32          // of the requests that have gone out
	czxids map[string]int64 // by the path of the node that was made
}

// sentCreate is a request that has gone out and is not answered.
type sentCreate struct {
	birth *birth
	multi bool
}

// errNotBorn: the library has a reply that the transport has not seen.
var errNotBorn = errors.New("the czxid of the new node is not known")

// expect registers a create; it must be called before the request is handed over. czxid is for the path in the reply.
// done takes the registration back.
func (b *births) expect(path string) (czxid func(made string) (int64, error), done func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.expected == nil {
		b.expected, b.sent = make(map[string]*birth), make(map[int32]sentCreate)
	}
	one := b.expected[path]
	if one == nil {
		one = &birth{path: path, czxids: make(map[string]int64, 1)}
		b.expected[path] = one
	}
	one.users++
	b.n.Add(1)
	czxid = func(made string) (int64, error) {
		b.mu.Lock()
		defer b.mu.Unlock()
		if zxid := one.czxids[made]; zxid != 0 {
			return zxid, nil
		}
		return 0, errNotBorn
	}
	return czxid, func() { b.forget(one) }
}

// forget takes a registration back. Requests whose connection was lost are forgotten with the last one.
func (b *births) forget(one *birth) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.n.Add(-1)
	if one.users--; one.users > 0 {
		return
	}
	delete(b.expected, one.path)
	for _, xid := range one.xids {
		delete(b.sent, xid)
	}
}

// passes looks at a frame that goes out next.
func (b *births) passes(frame []byte) {
	if b.n.Load() == 0 {
		return
	}
	path, ok := createOf(frame)
	if !ok {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if one := b.expected[path]; one != nil {
		xid := requestXid(frame)
		b.sent[xid] = sentCreate{one, requestOp(frame) == opMulti}
		one.xids = append(one.xids, xid)
	}
}

// awaits reports whether a reply is to a request that passes has seen.
func (b *births) awaits(xid int32) bool {
	if b.n.Load() == 0 {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, sent := b.sent[xid]
	return sent
}

// answered takes the reply to a request that was carried out; body is the reply without its header.
func (b *births) answered(xid int32, zxid int64, body []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	sent, ok := b.sent[xid]
	if !ok {
		return
	}
	delete(b.sent, xid)
	made := sent.birth.path
	if sent.multi {
		ok = carriedOut(body)
	} else {
		made, _, ok = cutString(body)
	}
	if ok {
		sent.birth.czxids[made] = zxid
	}
}
