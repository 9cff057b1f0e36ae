package embedded

import (
	"path"
	"strings"
	"time"
)

// Action is what happens to a request.
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
	// EndBefore ends the session as [Server.EndElsewhere] does, and hands the request on. A follower's client
	// hears of it by a refusal of what it writes, on a connection that stays open; a leader's hears nothing.
	EndBefore
	// Refuse does not carry the request out and answers it with Fault.Code in the reply's header, for any kind of
	// request. It takes no transaction id. A server that throttles refuses so.
	Refuse
	// RefusePart refuses a write as the leader does when it finds something wrong with it: with a transaction id, and of
	// a multi in the part that names Fault.Path, behind a header that says OK. Without a path it is the first part.
	// A quota is told so. A read is refused as by Refuse.
	RefusePart
)

// throttledOp is what Refuse answers where no code is set: ZooKeeper's ThrottledOp.
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
	Path    string // a pattern as in path.Match; with "/**" at its end it is for everything below what the rest names. One path of a multi suffices.
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
