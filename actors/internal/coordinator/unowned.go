package coordinator

import (
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/queue"
)

// Nodes of this session that no request owns are orphans (orphan.go), or nodes that the session had deleted, and that
// servers which were restored from a backup bring back. Such a node stands before everybody for as
// long as the session lives, and nobody gives it back. So the session asks for the owner of a node
// that a request waits for, and of the head of the queue when the request looks again. A node of
// this session is removed if no request can have made it: else it would be known, or its name would
// have the GUID of one of the requests.

// isUnowned reports whether no request owns a node of this session.
func (c *Coordinator) isUnowned(r *request, name string) bool {
	p := r.queue.path
	if _, n := p.findNode(name); n != nil {
		return false
	}
	if r.spec.One != "" {
		return !slices.ContainsFunc(r.queue.members, func(id RequestID) bool {
			other := c.requests[id]
			return other.node.exists() || other.makesNode()
		})
	}
	if _, contends := queue.Parse(name); !contends {
		return false
	}
	for _, other := range c.requests {
		if strings.Contains(name, other.spec.GUID) {
			return false
		}
	}
	return true
}

// removeUnowned removes a node of this session where no request owns it. Waiters learn the result
// by their watches, or when they look again.
func (c *Coordinator) removeUnowned(r *request, name string, czxid int64) {
	p := r.queue.path
	if p.unowned != "" || !c.isUnowned(r, name) {
		return
	}
	p.unowned = name
	if r.spec.One != "" {
		// If a request of this session has made it after all, late, that one does not take it any more.
		r.queue.newest = max(r.queue.newest, czxid)
		c.ask(&RemoveContest{Path: p.at(name), Czxid: czxid}, unownedRemoval{path: p.path, name: name})
		return
	}
	c.ask(&Commit{Deletes: []string{p.at(name)}}, unownedRemoval{path: p.path, name: name})
}

// unownedRemoval is the purpose of the delete of a node that no request owns.
type unownedRemoval struct {
	path, name string
}

func (p unownedRemoval) answered(c *Coordinator, _ uint64, answer Answer) {
	if path := c.epoch.paths[p.path]; path != nil {
		path.unowned = ""
	}
	switch f := answer.failure(); {
	case f.none():
		c.emit(&Note{What: Unowned, Path: p.path, Node: p.name})
	case !f.is(NoNode):
		c.emit(&Note{What: NotRemoved, Path: p.path, Node: p.name, Detail: f.Detail})
	}
}

// askWhoseHead asks for the owner of the head of the queue, for a request that has waited for long
// and looks again.
func (c *Coordinator) askWhoseHead(r *request, view *View) {
	p, head := r.queue.path, ""
	if all := view.Queue.Queue(r.spec.Style.Name); len(all) > 0 {
		head = all[0]
	}
	position, shown := view.Queue.Find(r.node.name)
	if !shown || position.Before == 0 || head == position.Predecessor || p.asksHead {
		return // nobody is before it, or it asks of its predecessor anyway
	}
	if _, n := p.findNode(head); n != nil {
		return
	}
	p.asksHead = true
	c.ask(&Whose{Path: p.at(head)}, headAsked{path: p.path, request: r.id, head: head})
}

// headAsked is the purpose of a Whose.
type headAsked struct {
	path    string
	request RequestID
	head    string
}

func (p headAsked) answered(c *Coordinator, _ uint64, answer Answer) {
	if path := c.epoch.paths[p.path]; path != nil {
		path.asksHead = false
	}
	r, a := c.requests[p.request], answer.(*Read)
	if r != nil && a.Failure.none() && a.Ours {
		c.removeUnowned(r, p.head, a.Czxid)
	}
}
