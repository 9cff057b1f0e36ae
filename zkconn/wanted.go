package zkconn

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync"
)

// What callers want of a request beside the library's answer; the transport sees its frame:
//
//   - A read is to leave a watch, without the library's watch table (rewrite.go).
//   - The caller of a create wants to know when it has gone out (pipelining). The library takes
//     requests from a channel, so a caller that starts a goroutine for a create and one for a
//     listing cannot know which goes first.
//   - The caller of a create wants the czxid of the node, without a read that its own session may
//     not be allowed. The header of the reply to a create, or to a transaction that was carried
//     out, has the zxid of the transaction, which is the czxid of its nodes (tests/touches
//     compares): FinalRequestProcessor takes it when it has applied the transaction, before any
//     read is served. The library drops it.

type wantedRequests struct {
	mu  sync.Mutex
	all map[requestName]*wanted
}

// requestName names requests by operation and path at the server, a transaction by its first
// create.
type requestName struct {
	op   int32
	path string
}

type wanted struct {
	requestName
	of      *wantedRequests
	callers int
	gone    chan struct{}    // closed when one has gone out; nil where nobody waits
	czxids  map[string]int64 // of nodes that they have made, by path
}

// want registers a request before it is handed over. gone, unless nil, is closed when it has gone
// out.
func (w *wantedRequests) want(op int32, path string, gone chan struct{}) *wanted {
	w.mu.Lock()
	defer w.mu.Unlock()
	name := requestName{op, path}
	one := w.all[name]
	if one == nil {
		one = &wanted{requestName: name, of: w}
		if w.all == nil {
			w.all = make(map[requestName]*wanted)
		}
		w.all[name] = one
	}
	one.callers++
	if gone != nil {
		one.gone = gone
	}
	return one
}

func (w *wanted) done() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	if w.callers--; w.callers == 0 {
		delete(w.of.all, w.requestName)
	}
}

// goesOut gives what is wanted of a request that goes out next; nil for no more than the answer.
func (w *wantedRequests) goesOut(op int32, frame []byte) *wanted {
	path, ok := "", false
	switch op {
	case opExists, opGetData, opGetChildren2:
		path, _, ok = cutString(frame[requestHeaderSize:])
		ok = ok && len(frame) == requestHeaderSize+4+len(path)+1
	case opCreate:
		path, _, ok = cutString(frame[requestHeaderSize:])
	case opMulti:
		op = opCreate
		path, ok = firstCreate(frame[requestHeaderSize:])
	}
	if !ok {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.all[requestName{op, path}]
	if one != nil && one.gone != nil {
		close(one.gone)
		one.gone = nil
	}
	return one
}

// watched gives a copy of a frame with its watch byte set: a Writer must not modify its argument.
func watched(frame []byte) []byte {
	frame = bytes.Clone(frame)
	frame[len(frame)-1] = 1
	return frame
}

func (w *wanted) answered(op int32, zxid int64, body []byte) {
	// A transaction that was not carried out begins with an error, even if its header has none.
	made, ok := w.path, len(body) >= multiHeaderSize && int32(binary.BigEndian.Uint32(body)) != typeOfError
	if op == opCreate {
		made, _, ok = cutString(body)
	}
	if !ok {
		return
	}
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	if w.czxids == nil {
		w.czxids = make(map[string]int64, 1)
	}
	w.czxids[made] = zxid
}

// errNotBorn: the library has a reply that the transport has not seen.
var errNotBorn = errors.New("the czxid of the new node is not known")

func (w *wanted) czxid(made string) (int64, error) {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	if zxid := w.czxids[made]; zxid != 0 {
		return zxid, nil
	}
	return 0, errNotBorn
}
