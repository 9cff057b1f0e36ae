package zkconn

import (
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// A server keeps a watch until it fires or its connection ends: on a node that is never made, for
// as long as the session lives. The library sends no removeWatches, so the transport does, with a
// mirror of the server's table. See Conn.DropWatches.

// watch is a watch at the server, which may have two for a path: one on its children, one on its
// data and existence.
type watch struct {
	path     string // of the server, chroot included
	children bool
}

// standingWatches mirrors the server's watches of one connection, in the order of its frames. It
// never lacks one, but may have one that is gone: servers tell nobody who may not READ the node.
// Removing that does no harm.
type standingWatches struct {
	removals *watchRemovals

	mu sync.Mutex
	// stands has the watches. A removal of those that are true is about to go out.
	stands map[watch]bool
}

// reads: a read that leaves a watch goes out next. It calls off a removal that is about to go out.
func (s *standingWatches) reads(w watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stands[w] {
		s.stands[w] = false
	}
}

// removes reports whether the removal of a watch is to go out next, and nobody has called it off.
func (s *standingWatches) removes(w watch) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stands[w] {
		return false
	}
	delete(s.stands, w)
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
	if r := s.removals; r.unknown.Load() || r.hangUps.Load() >= manyHangUps {
		clear(s.stands)
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

// watchRemovals is what a Config's servers make of removeWatches, which they know since 3.5. Those that refuse it, or hang
// up on it twice in a row, are not asked again in any session: then watches stay until their connection ends.
type watchRemovals struct {
	unknown atomic.Bool
	hangUps atomic.Int32
}

// answered takes the answer to one. It reports whether the watch is gone.
func (r *watchRemovals) answered(code int32) (gone bool) {
	switch code {
	case 0, codeNoWatcher:
		r.hangUps.Store(0)
		return true
	case codeThrottled: // it may be removed later
	default:
		r.unknown.Store(true)
	}
	return false
}
