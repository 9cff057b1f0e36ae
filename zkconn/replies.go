package zkconn

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/turnstile-locks/turnstile/zkconn/lease"
)

// Replies are checked before the library sees them. It makes room for any count, reads beyond the
// end of a frame what an earlier one left in its buffer, and panics, on its own goroutine, on a
// transaction's reply without an end.

// A shape has a letter for each field of a reply's body that the library decodes:
//
//	i   an int of four bytes
//	s   a string: its length and that many bytes
//	b   a buffer: likewise, or the length -1 for none
//	S   a stat
//	l   a list of names, which are not empty
//	m   the parts of a transaction, up to the mark behind the last
//
// What follows the last field is ignored, as the library does: newer servers may add fields.
type shape string

// operation is a request that is sent here, or a part of a transaction: the shape of its reply, and which evidence
// that is, because every answer comes only after the leader has handled the request.
type operation struct {
	name  string
	shape shape
	kind  lease.Kind
}

const statSize = 68

var operations = map[int32]operation{
	opCreate:          {"create", "s", lease.Committed},
	opDelete:          {"delete", "", lease.Committed},
	opExists:          {"exists", "S", lease.Local},
	opGetData:         {"data", "bS", lease.Local},
	opSetData:         {"set data", "S", lease.Committed},
	opSync:            {"sync", "s", lease.Ordered},
	opPing:            {"ping", "", lease.Local},
	opGetChildren2:    {"children", "lS", lease.Local},
	opMulti:           {"multi", "m", lease.Committed},
	opRemoveWatches:   {"remove watches", "", lease.Local},
	opCreateContainer: {"create container", "s", lease.Committed},
	opSetAuth:         {"auth", "", lease.Local},
	opCloseSession:    {"close session", "", lease.Local},
}

var eventOperation = operation{name: "watch event", shape: "iis"}

var partShapes = map[int32]shape{opCreate: "s", opDelete: "", opSetData: "S", opCheck: "", typeOfError: "i"}

// check finds what is wrong with a body. It gives what follows the last field.
func (s shape) check(body []byte) (rest []byte, err error) {
	for i := 0; i < len(s) && err == nil; i++ {
		switch s[i] {
		case 'i':
			body, err = skip(body, 4)
		case 'S':
			body, err = skip(body, statSize)
		case 'l':
			body, err = skipNames(body)
		case 'm':
			body, err = skipParts(body)
		default:
			body, err = skipText(body, s[i] == 'b', false)
		}
	}
	return body, err
}

func skip(body []byte, size int) ([]byte, error) {
	if size > len(body) {
		return nil, fmt.Errorf("a field of %d bytes with %d left", size, len(body))
	}
	return body[size:], nil
}

func cutInt(body []byte) (n int32, rest []byte, err error) {
	if rest, err = skip(body, 4); err == nil {
		n = int32(binary.BigEndian.Uint32(body))
	}
	return n, rest, err
}

func skipText(body []byte, mayBeNone, named bool) ([]byte, error) {
	length, body, err := cutInt(body)
	switch {
	case err != nil, length == -1 && mayBeNone:
		return body, err
	case length < 0:
		return nil, fmt.Errorf("a length of %d", length)
	case length == 0 && named:
		return nil, fmt.Errorf("an empty name")
	}
	return skip(body, int(length))
}

// skipNames goes through a list. Each element takes some bytes, so a count beyond the frame soon ends it.
func skipNames(body []byte) ([]byte, error) {
	count, body, err := cutInt(body)
	if err == nil && count < 0 {
		err = fmt.Errorf("a count of %d", count)
	}
	for n := int32(0); err == nil && n < count; n++ {
		if body, err = skipText(body, false, true); err != nil {
			err = fmt.Errorf("name %d of %d: %w", n, count, err)
		}
	}
	return body, err
}

func skipParts(body []byte) (rest []byte, err error) {
	for n := 0; ; n++ {
		header := body
		if body, err = skip(body, multiHeaderSize); err != nil {
			return nil, fmt.Errorf("part %d: %w", n, err)
		}
		if header[4] != 0 {
			return body, nil
		}
		kind := int32(binary.BigEndian.Uint32(header))
		part, known := partShapes[kind]
		if !known {
			return nil, fmt.Errorf("part %d: a type of %d", n, kind)
		}
		if body, err = part.check(body); err != nil {
			return nil, fmt.Errorf("part %d, of type %d: %w", n, kind, err)
		}
	}
}

// asked are one connection's requests without an answer: an answer does not say what it answers.
type asked struct {
	mu   sync.Mutex
	sent map[int32]question
}

type question struct {
	op    int32
	size  int
	watch watch   // that it sets or removes; its path is empty for none
	want  *wanted // beside the answer; nil for nothing
}

func (a *asked) sends(xid int32, q question) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.sent == nil {
		a.sent = make(map[int32]question)
	}
	a.sent[xid] = q
}

func (a *asked) answered(xid int32) (question, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q, ok := a.sent[xid]
	delete(a.sent, xid)
	return q, ok
}

// growth bounds the reply to a transaction, in sizes of the request: no part grows as much (a stat
// of 68 bytes for a path of two and its data).
const growth = 4

// checkReply finds what is wrong with a reply without its length. It gives the request that it is
// to.
func (a *asked) checkReply(reply []byte) (q question, err error) {
	xid, body := int32(binary.BigEndian.Uint32(reply)), reply[replyHeaderSize:]
	to := eventOperation
	switch xid {
	case xidEvent:
	case xidPing:
		q.op = opPing
		to = operations[opPing]
	default:
		ok := false
		if q, ok = a.answered(xid); !ok {
			return q, fmt.Errorf("server sent a reply to request %d, which there is not", xid)
		}
		to = operations[q.op]
		if to.name == "" {
			return q, fmt.Errorf("server sent a reply to operation %d, which this client does not know", q.op)
		}
		if code := int32(binary.BigEndian.Uint32(reply[replyHeaderSize-4:])); code != 0 {
			return q, nil // the library does not look at the body
		}
		if q.op == opMulti && len(body) > growth*q.size {
			return q, fmt.Errorf("server sent a malformed reply to multi: %d bytes for a request of %d", len(body), q.size)
		}
	}
	if _, err := to.shape.check(body); err != nil {
		return q, fmt.Errorf("server sent a malformed reply to %s: %w", to.name, err)
	}
	return q, nil
}
