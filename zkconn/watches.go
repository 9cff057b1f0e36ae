package zkconn

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// A server keeps a watch until it fires or its connection ends. The library sends no removeWatches,
// so the transport does, with a mirror of the server's table. See Conn.DropWatches.

// watch is a watch at the server, which may have two for a path: one on its children, one on its
// data and existence.
type watch struct {
	path     string // of the server, chroot included
	children bool
}

// standingWatches mirrors the server's watches of one connection, in the order of its frames. It
// never lacks one, but may have one that is gone, whose removal does no harm: servers tell nobody
// who may not READ the node.
type standingWatches struct {
	removals *watchRemovals

	mu sync.Mutex
	// stands has the watches. A removal of those that are true is about to go out.
	stands map[watch]bool
}

// reads: a read that leaves a watch goes out next. It calls off a removal of that.
func (s *standingWatches) reads(w watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stands[w] {
		s.stands[w] = false
	}
}

// removes reports whether a watch's removal is to go out next, not called off.
func (s *standingWatches) removes(w watch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stands[w] {
		return false
	}
	delete(s.stands, w)
	s.removals.sent.Store(true)
	return true
}

func (s *standingWatches) answered(w watch, op, code int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stands := code == 0 || code == codeNoNode && op == opExists
	if op == opRemoveWatches {
		stands = !s.removals.answered(code)
	}
	if !stands {
		return
	}
	if s.stands == nil {
		s.stands = make(map[watch]bool)
	}
	s.stands[w] = false
}

// fired takes an event: the watches that it may come from are spent. body is the frame without its length.
func (s *standingWatches) fired(body []byte) {
	const created, deleted, dataChanged, childrenChanged = 1, 2, 3, 4
	if len(body) < replyHeaderSize+4+4 {
		return
	}
	kind := int32(binary.BigEndian.Uint32(body[replyHeaderSize:]))
	path, _, ok := cutString(body[replyHeaderSize+4+4:]) // behind the kind stands a state
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if kind == created || kind == deleted || kind == dataChanged {
		delete(s.stands, watch{path, false})
	}
	if kind == deleted || kind == childrenChanged {
		delete(s.stands, watch{path, true})
	}
}

// unwanted decides which watches to remove.
func (s *standingWatches) unwanted(wanted func(watch) bool) (all []watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.removals.due() {
		return nil
	}
	for w := range s.stands {
		if !wanted(w) {
			s.stands[w] = true
			all = append(all, w)
		}
	}
	return all
}

// watchRemovals says when a Config's servers are asked to remove watches. Servers before 3.5 hang
// up on that. Others fail while throttled, when they end the session, or go down. So after each
// look in a row without success, one look of twice as many is for removals. This outlives sessions.
type watchRemovals struct {
	looks, failed atomic.Uint32
	sent          atomic.Bool // a removal, since the last look or success
}

// due counts a look, and reports whether it is for removals.
func (r *watchRemovals) due() bool {
	if r.sent.Swap(false) {
		r.failed.Add(1)
	}
	return r.looks.Add(1)&(1<<r.failed.Load()-1) == 0
}

// answered takes the answer to a removal. It reports whether the watch is gone.
func (r *watchRemovals) answered(code int32) (gone bool) {
	if gone = code == 0 || code == codeNoWatcher; gone {
		r.sent.Store(false)
		r.failed.Store(0)
	}
	return gone
}
