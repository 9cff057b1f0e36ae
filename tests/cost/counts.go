package main

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// counts has the frames that have passed the relays so far.
type counts struct {
	dials atomic.Int64 // attempts of clients to connect

	mu  sync.Mutex
	now passed
}

// passed has the counts of some time.
type passed struct {
	dials    int
	connects int                // connect requests that reached a server
	begun    int                // sessions
	renewed  int                // connect requests whose session was granted again
	refused  int                // likewise, refused: the session is over
	requests map[rig.OpCode]int // frames after the first of a connection
}

// look gives what has passed so far.
func (c *counts) look() passed {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.now
	found.requests = maps.Clone(c.now.requests)
	found.dials = int(c.dials.Load())
	return found
}

// since gives what has passed since an earlier look.
func (c *counts) since(before passed) passed {
	found := c.look()
	found.dials -= before.dials
	found.connects -= before.connects
	found.begun -= before.begun
	found.renewed -= before.renewed
	found.refused -= before.refused
	for op, n := range before.requests {
		if found.requests[op] -= n; found.requests[op] == 0 {
			delete(found.requests, op)
		}
	}
	return found
}

// Where things stand in frames, by ZooKeeper's jute definitions. Each begins with its length.
const (
	xidAndOp        = 4 + 4 + 4               // length, xid, kind
	askedAt         = 4 + 4 + 8 + 4           // length, protocol version, last zxid seen, timeout: then the session
	grantedAt       = 4 + 4 + 4               // length, protocol version, timeout: then the session
	sessionSize     = 8                       // bytes
	opAt            = 4 + 4                   // length, xid: then the kind
	shortestAsking  = askedAt + sessionSize   // of a connect request that names a session
	shortestGranted = grantedAt + sessionSize // of its reply
)

// askedSession gives the session that a connect request names, 0 for a new one.
func askedSession(frame []byte) int64 {
	if len(frame) < shortestAsking {
		return 0
	}
	return int64(binary.BigEndian.Uint64(frame[askedAt:]))
}

// grantedSession gives the session of a connect reply, 0 where it was refused.
func grantedSession(frame []byte) int64 {
	if len(frame) < shortestGranted {
		return 0
	}
	return int64(binary.BigEndian.Uint64(frame[grantedAt:]))
}

// connect counts a connect request.
func (c *counts) connect() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now.connects++
}

// granted counts a connect reply.
func (c *counts) granted(asked, got int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case asked == 0 && got != 0:
		c.now.begun++
	case asked != 0 && got != 0:
		c.now.renewed++
	default:
		c.now.refused++
	}
}

// request counts a request by its kind. A multi counts as one, with any parts.
func (c *counts) request(frame []byte) {
	if len(frame) < xidAndOp {
		return
	}
	op := rig.OpCode(int32(binary.BigEndian.Uint32(frame[opAt:])))
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.requests == nil {
		c.now.requests = map[rig.OpCode]int{}
	}
	c.now.requests[op]++
}

// frames gives how many frames went to the servers.
func (p passed) frames() int {
	n := p.connects
	for _, each := range p.requests {
		n += each
	}
	return n
}

// kinds names the requests, without pings, the most frequent first.
func (p passed) kinds() string {
	ops := slices.SortedFunc(maps.Keys(p.requests), func(a, b rig.OpCode) int { return p.requests[b] - p.requests[a] })
	var all []string
	for _, op := range ops {
		if op != rig.OpPing {
			all = append(all, fmt.Sprintf("%s %d", op, p.requests[op]))
		}
	}
	return strings.Join(all, ", ")
}
