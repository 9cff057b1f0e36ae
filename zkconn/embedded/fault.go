package embedded

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Action is the fate of a request.
type Action int

const (
	// Pass changes nothing.
	Pass Action = iota
	// CutBefore closes the connection, and the request is not carried out.
	CutBefore
	// CutAfter carries the request out and closes the connection without an answer.
	CutAfter
	// DropReply carries the request out and sends no answer; the connection stays open.
	DropReply
	// HoldReplies carries the request out and keeps its answer, and all that follows on the connection,
	// until Injection.Release, or for Fault.Delay when that is set.
	HoldReplies
	// ExpireBefore ends the session as if its time had run out, and the request is not carried out.
	ExpireBefore
	// EndBefore ends the session as [Server.EndElsewhere] does, and hands the request on. A
	// follower's client hears of it when a write is refused, on a connection that stays open; a
	// leader's client hears nothing.
	EndBefore
	// Refuse does not carry the request out and answers it with Fault.Code in the reply's header, for any kind of
	// request. It takes no transaction id. A server that throttles refuses so.
	Refuse
	// RefusePart refuses a write as the leader refuses an invalid one, or one above a quota: with a
	// transaction id, and a multi in the part that names Fault.Path, behind a header that says OK.
	// Without a path it is the first part. A read is refused as by Refuse.
	RefusePart
)

// throttledOp is the code that Refuse answers where none is set: ZooKeeper's ThrottledOp.
const throttledOp = -127

// Request describes a request to a hook.
type Request struct {
	Session int64
	Op      Op
	Paths   []string // one for each part of a multi; none where the operation names none
}

// Fault says which requests it strikes, and how. The zero value of a field matches everything.
type Fault struct {
	Op      Op
	Path    string // a pattern as in path.Match; "/**" at its end matches everything below the rest. One path of a multi suffices.
	Session int64
	Skip    int // let this many go first
	Count   int // then it happens this many times: once when zero, always when negative
	Action  Action
	Code    int32         // of Refuse and RefusePart, as KeeperException.Code numbers errors; ThrottledOp (-127) when zero
	Delay   time.Duration // of HoldReplies: the replies go out after this, by the server's clock
}

func (f Fault) names(p string) bool {
	pattern, below := strings.CutSuffix(f.Path, "/**")
	if below {
		names := strings.SplitAfter(p, "/")
		depth := strings.Count(pattern, "/") + 1
		if len(names) <= depth || p == "/" {
			return false
		}
		p = strings.TrimSuffix(strings.Join(names[:depth], ""), "/")
	}
	matched, _ := path.Match(pattern, p)
	return matched
}

// faults are the faults in place, in the order in which they were injected.
type faults struct {
	mu  *sync.Mutex // the ensemble's
	all []*Injection
}

func (f *faults) any() bool { return len(f.all) > 0 }

func (f *faults) inject(fault Fault) *Injection {
	i := &Injection{of: f, fault: fault, skip: fault.Skip, left: fault.Count, hit: make(chan struct{})}
	if fault.Count == 0 {
		i.left = 1
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = append(f.all, i)
	return i
}

// strike gives the first fault that strikes a request; nil for none. It counts, so it is asked once for each request.
// Its caller has the lock.
func (f *faults) strike(r Request) *Injection {
	for _, i := range f.all {
		if !i.matches(r) {
			continue
		}
		if i.hits++; i.hits == 1 {
			close(i.hit)
		}
		return i
	}
	return nil
}

// Injection is a fault that was put in place.
type Injection struct {
	of      *faults
	fault   Fault
	skip    int
	left    int // negative: for ever
	hits    int
	hit     chan struct{} // closed by the first
	holding []*output
}

// matches counts, so it is asked once for each request.
func (i *Injection) matches(r Request) bool {
	f := i.fault
	if i.left == 0 || f.Op != 0 && f.Op != r.Op || f.Session != 0 && f.Session != r.Session {
		return false
	}
	if f.Path != "" && !slices.ContainsFunc(r.Paths, f.names) {
		return false
	}
	if i.skip > 0 {
		i.skip--
		return false
	}
	if i.left > 0 {
		i.left--
	}
	return true
}

// Hits counts how often it has happened.
func (i *Injection) Hits() int {
	i.of.mu.Lock()
	defer i.of.mu.Unlock()
	return i.hits
}

// Wait waits until it has happened once.
func (i *Injection) Wait(ctx context.Context) error {
	select {
	case <-i.hit:
		return nil
	default:
	}
	select {
	case <-i.hit:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("embedded: waiting for %v on %q: %w", i.fault.Op, i.fault.Path, context.Cause(ctx))
	}
}

// Release sends the replies that HoldReplies has kept.
func (i *Injection) Release() {
	i.of.mu.Lock()
	defer i.of.mu.Unlock()
	for _, out := range i.holding {
		out.hold(-1)
	}
	i.holding = nil
}

// Remove takes the fault away. Replies that it has kept stay kept until Release.
func (i *Injection) Remove() {
	i.of.mu.Lock()
	defer i.of.mu.Unlock()
	i.of.all = slices.DeleteFunc(i.of.all, func(have *Injection) bool { return have == i })
}
