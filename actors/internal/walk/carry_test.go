package walk

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// The servers' answers to each query: the steps of the functions in internal/carrier, one for each round trip on
// whose order with others something may depend.

var unknown = coordinator.Failure{Outcome: coordinator.Unknown}

// lacks gives the failure of a step that needs a node of a lock path; none where the node exists.
func (w *world) lacks(path int, name string) (f coordinator.Failure) {
	if name != "" && w.servers.at(name) < 0 {
		f = noNode(path, name)
	}
	return f
}

// noNode is the refusal where a node does not exist.
func noNode(path int, name string) coordinator.Failure {
	return coordinator.Failure{Outcome: coordinator.Refused, Cause: coordinator.NoNode, Path: lockPaths[path] + "/" + name}
}

// serve lets the servers carry out the next step of a query.
func (w *world) serve(s, at int) {
	f := w.sessions[s].flights[at]
	f.applied, f.stage, f.print = true, f.stage+1, fingerprint{}
	switch q := f.query.(type) {
	case *coordinator.Create:
		w.create(s, &f, q)
	case *coordinator.CreateAt:
		w.createAt(s, &f, q)
	case *coordinator.SeekReclaimable:
		w.seekReclaimable(s, &f)
	case *coordinator.TakeOver:
		w.takeOver(s, &f, q)
	case *coordinator.Commit:
		w.commit(s, &f, q)
	case *coordinator.List:
		f.answer = &coordinator.Listed{View: w.view(s, pathIn(q.Path), q.Permits)}
	case *coordinator.Watch:
		f.answer = w.watch(s, q.Path)
	case *coordinator.WatchChildren:
		w.servers.children[pathIn(q.Path)][s] = true
		f.answer = &coordinator.Listed{View: w.view(s, pathIn(q.Path), 0)}
	case *coordinator.WatchContention:
		w.watchContention(s, &f, q)
	case *coordinator.ReadOwn:
		w.readOwn(s, &f, q)
	case *coordinator.Look:
		w.look(s, &f, q)
	case *coordinator.RemoveContest:
		w.removeContest(s, &f, q)
	case *coordinator.Check:
		w.catchUp(s)
		f.answer, f.commits = &coordinator.Ack{Failure: w.lacks(pathIn(q.Path), base(q.Path))}, true
	}
	f.behind = len(w.sessions[s].wire)
	if f.zxid = w.servers.zxid; w.sessions[s].link == lagging {
		f.zxid = w.sessions[s].seen
	}
	w.sessions[s].flights = replace(w.sessions[s].flights, at, f)
}

func (w *world) create(s int, f *flight, q *coordinator.Create) {
	w.catchUp(s)
	if made, ok := f.answer.(*coordinator.Created); ok && f.stage == 2 && made.Node.Name != "" {
		a := *made
		a.Node.Early = w.early(s, q.Spec, q.List)
		f.answer = &a
		return
	}
	a := &coordinator.Created{Info: coordinator.Info{Exists: true, Permits: q.Spec.Permits > 0}}
	f.answer, f.commits = a, true
	if q.Spec.One != "" && w.servers.at(oneName) >= 0 {
		a.Failure = coordinator.Failure{Outcome: coordinator.Refused, Cause: coordinator.NodeExists}
		return
	}
	if a.Info.Permits && w.servers.permits == 0 {
		w.servers.permits = q.Spec.Permits
	}
	w.servers.zxid++
	a.Node = w.makeNode(s, q.Spec, q.GUID, "")
	if a.Node.First = q.Spec.One != ""; a.Node.First {
		return
	}
	w.childrenChanged(pathIn(q.Spec.Path))
	if w.listsLater(q.List) {
		f.applied = false
		return
	}
	a.Node.Early = w.early(s, q.Spec, q.List)
}

// listsLater reports whether something may come between a create and the listing behind it.
func (w *world) listsLater(list bool) bool { return w.plan.ListsLater && list && !w.plan.Crowded }

// early gives the listing behind a create.
func (w *world) early(s int, sp *coordinator.Spec, list bool) *coordinator.View {
	if !list || w.plan.Crowded {
		return nil
	}
	v := w.view(s, pathIn(sp.Path), sp.Permits)
	return &v
}

func (w *world) createAt(s int, f *flight, q *coordinator.CreateAt) {
	w.catchUp(s)
	a := &coordinator.Created{Failure: w.lacks(pathIn(q.Spec.Path), q.Beside)}
	f.answer, f.commits = a, true
	if w.servers.at(q.Name) >= 0 {
		a.Failure = coordinator.Failure{Outcome: coordinator.Refused, Cause: coordinator.NodeExists}
	}
	if a.Failure.Outcome == coordinator.Applied {
		w.servers.zxid++
		a.Node = w.makeNode(s, q.Spec, "", q.Name)
		a.Node.First = true
		w.childrenChanged(pathIn(q.Spec.Path))
	}
}

func (w *world) commit(s int, f *flight, q *coordinator.Commit) {
	w.catchUp(s)
	if made, ok := f.answer.(*coordinator.Committed); ok && f.stage == 2 {
		a := &coordinator.Committed{Made: slices.Clone(made.Made), Failure: made.Failure}
		w.listBehind(s, q, a)
		f.answer = a
		return
	}
	a := &coordinator.Committed{}
	f.answer, f.commits = a, true
	for _, path := range slices.Concat(q.Exist, q.Deletes) {
		if a.Failure = w.lacks(pathIn(path), base(path)); a.Failure.Outcome != coordinator.Applied {
			return
		}
	}
	for _, path := range q.Deletes {
		w.deleteOwn(base(path))
	}
	w.servers.zxid++
	for _, n := range q.Creates {
		made := w.makeNode(s, n.Spec, n.GUID, "")
		made.Place = n.Place
		a.Made = append(a.Made, made)
	}
	var changed [maxPaths]bool
	list := false
	for _, n := range q.Creates {
		changed[pathIn(n.Spec.Path)] = true
		list = list || n.List
	}
	for path, is := range changed {
		if is {
			w.childrenChanged(path)
		}
	}
	if w.listsLater(list) {
		f.applied = false
		return
	}
	w.listBehind(s, q, a)
}

// listBehind adds the listings behind a transaction: each queue once.
func (w *world) listBehind(s int, q *coordinator.Commit, a *coordinator.Committed) {
	var listed [maxPaths]*coordinator.View
	for _, n := range q.Creates {
		if path := pathIn(n.Spec.Path); listed[path] == nil {
			listed[path] = w.early(s, n.Spec, n.List)
		}
	}
	for i, n := range q.Creates[:len(a.Made)] {
		a.Made[i].Early = listed[pathIn(n.Spec.Path)]
	}
}

// view is the queue as a server shows it.
func (w *world) view(s, path, permits int) (v coordinator.View) {
	if permits > 0 {
		v.Permits = w.servers.permits
	}
	v.Queue = queue.NewListing(w.shown(s, path), v.Permits)
	return v
}

// watch reads a node, or the lock path, and sets a watch on it.
func (w *world) watch(s int, path string) *coordinator.Read {
	name := base(path)
	if name == "" {
		w.servers.data[pathIn(path)][s] = true
		return &coordinator.Read{Data: []byte(strconv.Itoa(w.servers.permits))}
	}
	at := w.servers.at(name)
	if at < 0 || !slices.Contains(w.shown(s, w.servers.nodes[at].path), name) {
		return &coordinator.Read{Failure: noNode(pathIn(path), name)}
	}
	n := w.servers.nodes[at]
	n.watched[s] = true
	w.servers.nodes = replace(w.servers.nodes, at, n)
	a := &coordinator.Read{Version: n.version, Czxid: n.czxid}
	if n.wanted {
		a.Data = []byte(queue.RevokeRequest)
	}
	return a
}

// watchContention lists and watches the queue, and then reads and watches the node.
func (w *world) watchContention(s int, f *flight, q *coordinator.WatchContention) {
	a := &coordinator.Contention{Alone: true}
	f.answer = a
	if f.stage == 1 {
		w.servers.children[pathIn(q.Path)][s] = true
		a.Alone = queue.NewListing(w.shown(s, pathIn(q.Path)), 0).Alone(q.Node)
		f.applied = !a.Alone
		return
	}
	read := w.watch(s, q.Path+"/"+q.Node)
	a.Spent = read.Failure.Outcome != coordinator.Applied || queue.IsRevokeRequest(read.Data)
}

// readOwn writes to the node where its watchers are to hear of it, and then reads and watches it.
// It writes once more where a revoke request has replaced the data.
func (w *world) readOwn(s int, f *flight, q *coordinator.ReadOwn) {
	if f.stage == 2 || !q.Announce {
		f.answer = w.watch(s, q.Path)
		at := w.servers.at(base(q.Path))
		if at >= 0 && q.Says.Spec != nil && w.servers.nodes[at].wanted && !w.servers.nodes[at].named {
			w.write(at, false)
			w.servers.nodes[at].named = true // a copy since the write
		}
		return
	}
	f.applied = false
	if at := w.servers.at(base(q.Path)); at >= 0 {
		w.write(at, false)
	}
}

// look lists the nodes of an epoch, after a transaction. A late node may come between the two, if one can come at all.
func (w *world) look(s int, f *flight, q *coordinator.Look) {
	a := &coordinator.Looked{}
	f.answer, f.commits = a, true
	if f.stage == 1 {
		if !w.mistake.Unsynced {
			w.catchUp(s)
		}
		if f.applied = w.left[Moves] == 0; !f.applied {
			return
		}
	}
	see := func(name string, czxid int64) {
		ours, sought := q.Finds(name)
		if !sought {
			czxid = 0
		}
		if ours {
			a.Nodes = append(a.Nodes, coordinator.Seen{Name: name, Czxid: czxid})
		}
	}
	for _, name := range w.shown(s, pathIn(q.Path)) {
		n := w.servers.nodes[w.servers.at(name)]
		see(cmp.Or(n.guard, name), n.czxid)
	}
	for _, g := range w.servers.guards {
		see(g.name, 0)
	}
}

// removeContest deletes the node if it is the one, with its guard, or else the guard that was left of it. It is one
// step: what could come between the look and the delete is an operator who deletes the node without its guard and
// another who makes it anew, which ZooKeeper has no means against.
func (w *world) removeContest(s int, f *flight, q *coordinator.RemoveContest) {
	w.catchUp(s)
	a := &coordinator.Ack{Failure: w.lacks(0, oneName)}
	f.answer = a
	if at := w.servers.at(oneName); at >= 0 && w.servers.nodes[at].guard == base(q.Guard) {
		w.deleteOwn(oneName)
		f.commits = true
	}
	w.servers.guards = slices.DeleteFunc(slices.Clone(w.servers.guards), func(g guard) bool { return g.name == base(q.Guard) })
}

// seekReclaimable looks at the head of the queue. It is one step: what comes in between makes the transaction fail that
// follows.
func (w *world) seekReclaimable(s int, f *flight) {
	w.catchUp(s)
	a := &coordinator.Reclaimable{}
	f.answer, f.commits = a, true
	if len(w.servers.nodes) == 0 {
		return
	}
	if n := w.servers.nodes[0]; n.epoch == earlier && !n.wanted {
		number, _ := queue.Sequence(n.name)
		token, _ := messages.NewToken(n.czxid, 1)
		*a = coordinator.Reclaimable{Name: n.name, Version: n.version, Number: number, Token: token}
	}
}

// takeOver deletes the node and makes the other, in one transaction.
func (w *world) takeOver(s int, f *flight, q *coordinator.TakeOver) {
	w.catchUp(s)
	a := &coordinator.Created{Failure: w.lacks(0, q.From.Name)}
	f.answer, f.commits = a, true
	at := w.servers.at(q.From.Name)
	if at >= 0 && w.servers.nodes[at].version != q.From.Version {
		a.Failure.Outcome = coordinator.Refused
	}
	if a.Failure.Outcome != coordinator.Applied {
		return
	}
	w.servers.zxid++
	w.deleteNode(q.From.Name)
	a.Node = w.makeNode(s, q.Spec, "", q.Name)
	a.Node.First = true
	w.childrenChanged(0)
}
