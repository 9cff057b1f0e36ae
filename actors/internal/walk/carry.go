package walk

import (
	"slices"
	"strconv"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
)

// What the servers answer to each query: the steps of the functions in actors/carrier.go, one for each round trip on whose
// order with others something may depend.

// noNode is the refusal of what is not there.
func noNode(path string) coordinator.Failure {
	return coordinator.Failure{Outcome: coordinator.Refused, Cause: coordinator.NoNode, Path: path}
}

var unknown = coordinator.Failure{Outcome: coordinator.Unknown}

// carryOut lets the servers carry out the next step of a query.
func (w *world) carryOut(s, at int) {
	f := w.sessions[s].flights[at]
	f.applied, f.stage = true, f.stage+1
	switch q := f.query.(type) {
	case *coordinator.Create:
		w.create(s, &f, q)
	case *coordinator.CreateAt:
		f.answer = w.createAt(s, q)
		f.commits = true
	case *coordinator.Commit:
		f.answer = w.commit(s, q)
		f.commits = true
	case *coordinator.List:
		f.answer = &coordinator.Listed{View: w.view(s, q.Permits)}
	case *coordinator.Watch:
		f.answer = w.watch(s, base(q.Path))
	case *coordinator.WatchChildren:
		w.servers.children[s] = true
		f.answer = &coordinator.Listed{View: w.view(s, 0)}
	case *coordinator.WatchRetained:
		w.watchRetained(s, &f, q)
	case *coordinator.ReadOwn:
		w.readOwn(s, &f, q)
	case *coordinator.Find:
		w.find(s, &f, q)
	case *coordinator.RemoveContest:
		w.removeContest(s, &f, q)
	case *coordinator.Check:
		w.catchUp(s)
		f.answer = &coordinator.Done{Failure: w.lacks(base(q.Path))}
		f.commits = true
	}
	f.behind = len(w.sessions[s].wire)
	if f.zxid = w.servers.zxid; w.sessions[s].link == lagging {
		f.zxid = w.sessions[s].seen
	}
	w.sessions[s].flights = replace(w.sessions[s].flights, at, f)
}

// lacks is the failure of what needs a node.
func (w *world) lacks(name string) coordinator.Failure {
	if name != "" && w.servers.at(name) < 0 {
		return noNode(lockPath + "/" + name)
	}
	return coordinator.Failure{}
}

func (w *world) create(s int, f *flight, q *coordinator.Create) {
	w.catchUp(s)
	a := &coordinator.Created{Info: coordinator.Info{Exists: true, Counted: !w.plan.Listing && q.Spec.Permits == 0, Permits: q.Spec.Permits > 0}}
	f.answer, f.commits = a, true
	switch one := w.servers.at(oneName); {
	case q.Spec.One == "":
		if q.Spec.Permits > 0 && w.servers.permits == 0 {
			w.servers.permits = q.Spec.Permits
		}
		w.servers.zxid++
		a.Node = w.makeNode(s, q.Spec, "")
		w.childrenChanged()
		if !a.Info.Counted {
			a.Node.Siblings = -1
			v := w.view(s, q.Spec.Permits)
			a.Early = &v
		}
	case f.stage == 2: // it has looked at the node that was there
		a.Existing = &coordinator.OneNode{}
		if one >= 0 {
			a.Existing = w.oneNode(s, one)
		}
	case one >= 0:
		f.applied = false
	default:
		w.servers.zxid++
		a.Node = w.makeNode(s, q.Spec, "")
		a.Node.Siblings = 1
	}
}

// oneNode is the node of a contest as it is read.
func (w *world) oneNode(s, at int) *coordinator.OneNode {
	n := w.servers.nodes[at]
	one := &coordinator.OneNode{Ours: n.session == s && n.epoch == w.epoch(s), Czxid: n.czxid, GUID: n.guid}
	if n.wanted {
		one.GUID = ""
	}
	return one
}

func (w *world) createAt(s int, q *coordinator.CreateAt) *coordinator.Created {
	w.catchUp(s)
	if f := w.lacks(q.Beside); f.Outcome != coordinator.Applied {
		return &coordinator.Created{Failure: f}
	}
	w.servers.zxid++
	made := w.makeNode(s, q.Spec, q.Name)
	made.Siblings = 1
	w.childrenChanged()
	return &coordinator.Created{Node: made}
}

func (w *world) commit(s int, q *coordinator.Commit) *coordinator.Committed {
	w.catchUp(s)
	for _, path := range slices.Concat(q.Exist, q.Deletes) {
		if f := w.lacks(base(path)); f.Outcome != coordinator.Applied {
			if w.mistake(DeleteRegardless) && slices.Contains(q.Exist, path) {
				continue
			}
			return &coordinator.Committed{Failure: f}
		}
	}
	for _, path := range q.Deletes {
		w.checkDelete(base(path))
		w.deleteNode(base(path))
	}
	w.servers.zxid++
	a := &coordinator.Committed{}
	for _, n := range q.Creates {
		made := w.makeNode(s, n.Spec, "")
		made.Place = n.Place
		a.Made = append(a.Made, made)
	}
	for i := range a.Made {
		a.Made[i].Siblings, a.Made[i].Together = len(w.servers.nodes), len(a.Made)
	}
	if len(a.Made) > 0 {
		w.childrenChanged()
	}
	return a
}

// view is the queue as a server shows it.
func (w *world) view(s, permits int) coordinator.View {
	v := coordinator.View{}
	if permits > 0 {
		v.Permits = w.servers.permits
	}
	v.Queue = queue.NewListing(w.shown(s), v.Permits)
	return v
}

// watch reads a node, or the lock path, and sets a watch on it.
func (w *world) watch(s int, name string) *coordinator.Read {
	if name == "" {
		w.servers.data[s] = true
		return &coordinator.Read{Data: []byte(strconv.Itoa(w.servers.permits))}
	}
	at := w.servers.at(name)
	if at < 0 || !slices.Contains(w.shown(s), name) {
		if w.mistake(WatchTheGone) {
			return &coordinator.Read{}
		}
		return &coordinator.Read{Failure: noNode(lockPath + "/" + name)}
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

// watchRetained lists and watches the queue, and then reads and watches the node.
func (w *world) watchRetained(s int, f *flight, q *coordinator.WatchRetained) {
	if f.stage == 1 {
		w.servers.children[s] = true
		alone := queue.NewListing(w.shown(s), 0).Alone(q.Node) || w.mistake(WatchWithoutLooking)
		f.answer, f.applied = &coordinator.Arrivals{Alone: alone}, !alone
		return
	}
	read := w.watch(s, q.Node)
	f.answer = &coordinator.Arrivals{Alone: true,
		Spent: read.Failure.Outcome != coordinator.Applied || queue.IsRevokeRequest(read.Data)}
}

// readOwn writes to the node, where it is to tell who watches it, and then reads and watches it.
func (w *world) readOwn(s int, f *flight, q *coordinator.ReadOwn) {
	if f.stage == 1 && q.Announce {
		if at := w.servers.at(base(q.Path)); at >= 0 {
			w.write(at, false)
		}
		f.applied = false
		return
	}
	f.answer = w.watch(s, base(q.Path))
}

// find looks for the node of a request, where its name is not known, and then proves that it is there.
func (w *world) find(s int, f *flight, q *coordinator.Find) {
	if f.stage == 1 && !w.mistake(FindWithoutSync) {
		w.catchUp(s)
	}
	a, looked := f.answer.(*coordinator.Found)
	f.commits = true
	switch {
	case q.Spec.One != "" && f.stage == 1:
		w.catchUp(s)
		f.answer, f.applied = &coordinator.Found{}, false
	case q.Spec.One != "":
		a = &coordinator.Found{}
		if at := w.servers.at(oneName); at >= 0 {
			a.One = w.oneNode(s, at)
		}
		f.answer = a
	case q.Known != "":
		w.catchUp(s)
		f.answer = &coordinator.Found{Name: q.Known}
		if w.servers.at(q.Known) < 0 {
			f.answer = &coordinator.Found{}
		}
	case !looked:
		a = w.look(s, q)
		f.answer, f.applied = a, a.Name == ""
	default:
		w.catchUp(s)
		if w.servers.at(a.Name) < 0 {
			f.answer = &coordinator.Found{}
		}
	}
}

// look gives the node of a request in this session; of several the first, and the others are deleted.
func (w *world) look(s int, q *coordinator.Find) *coordinator.Found {
	a := &coordinator.Found{}
	for _, name := range w.shown(s) {
		at := w.servers.at(name)
		n := w.servers.nodes[at]
		ours := n.session == s && n.epoch == w.epoch(s) || w.mistake(FindAnyOwners)
		switch {
		case !strings.Contains(name, q.GUID+"-") || !ours:
		case a.Name == "":
			a.Name, a.Czxid = name, n.czxid
		default:
			w.checkDelete(name)
			w.deleteNode(name)
		}
	}
	return a
}

// removeContest deletes the node if it is the one. It is one step: what could come between the look and the delete is an
// operator who deletes the node and another who makes it anew, which ZooKeeper has no means against.
func (w *world) removeContest(s int, f *flight, q *coordinator.RemoveContest) {
	w.catchUp(s)
	at := w.servers.at(oneName)
	f.answer = &coordinator.Done{}
	switch {
	case at < 0:
		f.answer = &coordinator.Done{Failure: noNode(q.Path)}
	case w.servers.nodes[at].czxid == q.Czxid || w.mistake(RemoveByName):
		w.checkDelete(oneName)
		w.deleteNode(oneName)
		f.commits = true
	}
}
