package embedded

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

// Action is what happens to a request.
type Action int

const (
	// Pass lets the request be.
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
)

// Request is what a hook is told of a request.
type Request struct {
	Session int64
	Op      Op
	Paths   []string // one for each part of a multi; none where the operation names none
}

// Fault says which requests something is to happen to. The zero value of a field matches everything.
type Fault struct {
	Op      Op
	Path    string // a pattern as in path.Match; with "/**" at its end it is for everything below what the rest names. One path of a multi suffices.
	Session int64
	Skip    int // let this many go first
	Count   int // then it happens this many times: once when zero, always when negative
	Action  Action
	Delay   time.Duration // of HoldReplies: the replies go out after this, by the server's clock
}

// Injection is a fault that was put in place.
type Injection struct {
	e       *ensemble
	fault   Fault
	skip    int
	left    int // negative: for ever
	hits    int
	hit     chan struct{} // closed by the first
	holding []*output
}

// Inject puts a fault in place. It fails when the path is no pattern.
func (s *Server) Inject(f Fault) (*Injection, error) {
	if _, err := path.Match(f.Path, ""); err != nil {
		return nil, fmt.Errorf("embedded: fault's path %q: %w", f.Path, err)
	}
	i := &Injection{e: s.e, fault: f, skip: f.Skip, left: f.Count, hit: make(chan struct{})}
	if f.Count == 0 {
		i.left = 1
	}
	s.e.mu.Lock()
	defer s.e.mu.Unlock()
	s.e.faults = append(s.e.faults, i)
	return i, nil
}

// Hits is how often it has happened.
func (i *Injection) Hits() int {
	i.e.mu.Lock()
	defer i.e.mu.Unlock()
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
	i.e.mu.Lock()
	defer i.e.mu.Unlock()
	for _, out := range i.holding {
		out.hold(-1)
	}
	i.holding = nil
}

// Remove takes the fault away. What it has kept stays kept until Release.
func (i *Injection) Remove() {
	i.e.mu.Lock()
	defer i.e.mu.Unlock()
	i.e.faults = slices.DeleteFunc(i.e.faults, func(have *Injection) bool { return have == i })
}

// suffer lets the faults have their way with a request. It says whether the request is still to be carried
// out and, if not, whether the connection stays open.
func (c *conn) suffer(op Op, body []byte) (goOn, open bool) {
	request := Request{Session: c.sessionID, Op: op, Paths: requestPaths(op, body)}
	if c.e.hook != nil {
		if action := c.e.hook(request); action != Pass {
			return c.meet(action, nil)
		}
	}
	for _, i := range c.e.faults {
		if i.matches(request) {
			i.hits++
			if i.hits == 1 {
				close(i.hit)
			}
			return c.meet(i.fault.Action, i)
		}
	}
	return true, true
}

func (c *conn) meet(action Action, by *Injection) (goOn, open bool) {
	switch action {
	case CutBefore:
		return false, false
	case CutAfter:
		c.out.finish() // what was answered before still goes out
		c.cutting = true
	case DropReply:
		c.mute = true
	case HoldReplies:
		c.out.hold(+1)
		if by != nil && by.fault.Delay == 0 {
			by.holding = append(by.holding, c.out)
		} else if by != nil {
			c.e.clock.AfterFunc(by.fault.Delay, func() { c.out.hold(-1) })
		}
	case ExpireBefore:
		if s := c.e.sessions[c.sessionID]; s != nil && c.e.leader != nil {
			c.e.expire(s)
		}
		return false, false
	}
	return true, true
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

// requestPaths reads the paths that a request names.
func requestPaths(op Op, body []byte) []string {
	d := &decoder{buf: body}
	switch op {
	case OpMulti:
		orders, _ := readMulti(d)
		var all []string
		for _, o := range orders {
			if o.op.creates() {
				o.path = o.create.path
			}
			all = append(all, o.path)
		}
		return all
	case OpPing, OpCloseSession, OpCreateSession, OpMultiRead, OpAuth, OpSASL, OpSetWatches, OpSetWatches2, OpWhoAmI:
		return nil
	}
	if p := d.text(); d.err == nil && p != null {
		return []string{p}
	}
	return nil
}
