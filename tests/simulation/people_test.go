package simulation

import (
	"context"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// actions of users of the locks, and of operators

// lockPaths are the lock paths of a plan.
func (p plan) lockPaths() []string { return []string{"/a", "/deep/b", "/c"}[:p.paths] }

func (w *world) ask(a action) bool {
	c := w.clients[pick(a.a, len(w.clients))]
	if !w.plan.inside {
		return w.underWay() < w.plan.requests && w.askAs(c, a)
	}
	asked := false
	for range 1 + a.c>>28%4 { // for one lock
		asked = w.underWay() < w.plan.requests && w.askAs(c, a) || asked
		a.b = a.b>>3 | a.b<<29
	}
	return asked
}

// askAs has a client ask for a lock.
func (w *world) askAs(c *client, a action) bool {
	if c.closing {
		return false
	}
	place := pick(a.a>>8, w.plan.paths)
	want := wish{path: w.plan.lockPaths()[place], actor: a.b%3 == 0, try: a.b>>4%5 == 0, observed: true}
	if w.choose(&want, w.plan.uses[place], a); want.within != nil {
		c = want.within.client
	}
	if a.b>>8%4 == 0 {
		want.timeout = time.Duration(1+a.c%10_000) * time.Millisecond
	}
	if a.b>>12%3 == 0 {
		want.grace = time.Duration(1+a.c>>4%3_000) * time.Millisecond
	}
	if w.plan.inside {
		want.share(w.plan.uses[place], a.b>>24)
	}
	w.start(c, want)
	return true
}

func (w *world) underWay() int { return len(w.some(func(r *lockRequest) bool { return !r.over() })) }

// some are the requests of which something is true, in the order in which they were made.
func (w *world) some(is func(*lockRequest) bool) (all []*lockRequest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.requests {
		if is(r) {
			all = append(all, r)
		}
	}
	return all
}

func (w *world) giveBackSome(a action) bool {
	all := w.some((*lockRequest).acquired)
	if len(all) == 0 {
		return false
	}
	w.giveBack(all[pick(a.a, len(all))], time.Duration(1+a.b%20_000)*time.Millisecond)
	return true
}

func (w *world) cancelSome(a action) bool {
	all := w.some(func(r *lockRequest) bool { return !r.over() && r.held == nil && !r.letGo })
	if len(all) == 0 {
		return false
	}
	w.giveUp(all[pick(a.a, len(all))])
	return true
}

// stopActor stops a lock actor of our own, in any state.
func (w *world) stopActor(a action) bool {
	all := w.some(func(r *lockRequest) bool { return r.pid != nil && !r.over() })
	if len(all) == 0 {
		return false
	}
	r := all[pick(a.a, len(all))]
	w.mu.Lock()
	r.letGo, r.stopped = true, true
	w.mu.Unlock()
	w.history.note("r%d: its lock actor is stopped", r.number)
	w.system.Root.Stop(r.pid)
	return true
}

func (w *world) closeClient(a action) bool {
	c := w.clients[pick(a.a, len(w.clients))]
	if c.closing || len(w.clients) == 1 {
		return false
	}
	w.history.note("c%d is closed", c.number)
	w.close(c, 10*time.Second)
	return true
}

func (w *world) close(c *client, within time.Duration) {
	c.closing = true
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		c.closed <- c.Close(ctx)
	}()
}

// sendRevokeRequest writes into the node of a holder that somebody wants the lock.
func (w *world) sendRevokeRequest(a action) bool {
	all := w.some((*lockRequest).acquired)
	if len(all) == 0 {
		return false
	}
	r := all[pick(a.a, len(all))]
	w.history.note("operator asks r%d for its lock", r.number)
	return w.operate(func(o *operator) { o.set(r.nodePath(), "unlock") })
}

func (w *world) deleteNode(a action) bool {
	where := w.plan.lockPaths()[pick(a.a, w.plan.paths)]
	return w.operate(func(o *operator) {
		if children := o.children(where); len(children) > 0 {
			w.breakNode(o, where+"/"+children[pick(a.b, len(children))])
		}
	})
}

func (w *world) deletePath(a action) bool {
	where := w.plan.lockPaths()[pick(a.a, w.plan.paths)]
	return w.operate(func(o *operator) {
		for _, child := range o.children(where) {
			w.breakNode(o, where+"/"+child)
		}
		w.history.note("operator deletes %s", where)
		o.delete(where)
	})
}

// breakNode deletes a contender's node. Its request may go on believing in it for a while. The
// operator takes that risk.
func (w *world) breakNode(o *operator, node string) {
	w.history.note("operator deletes %s", short(node))
	w.mu.Lock()
	if strings.HasSuffix(node, "/"+contested) { // the next one has the same name
		for _, r := range w.requests {
			r.broken = r.broken || r.queue() == node
		}
	} else {
		w.broken[node] = true
	}
	w.mu.Unlock()
	zxid := o.delete(node)
	w.mu.Lock()
	w.brokenBy[node] = zxid
	w.mu.Unlock()
}

// operate does something at the leader, past the network. Nothing happens without a leader.
func (w *world) operate(do func(*operator)) bool {
	leader := w.server.Leader()
	if leader == nil || !w.server.Committing() {
		return false
	}
	return withOperator(w.server, leader, do)
}

func withOperator(server *embedded.Server, at *embedded.Replica, do func(*operator)) bool {
	conn, err := server.DialContext(context.Background(), "tcp", at.Addr())
	if err != nil {
		return false
	}
	o := &operator{conn: conn}
	defer func() { _ = conn.Close() }()
	o.greet()
	do(o)
	o.call(embedded.OpCloseSession, nil)
	return o.err == nil
}
