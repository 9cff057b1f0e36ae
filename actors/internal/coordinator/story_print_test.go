package coordinator

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// words collects the words of a line of a story.
type words []string

func (w *words) add(said bool, format string, args ...any) {
	if said {
		*w = append(*w, fmt.Sprintf(format, args...))
	}
}

func (w words) String() string { return shortened(strings.Join(w, " ")) }

// describe writes an output as the stories show it.
func describe(out Output) string {
	switch out := out.(type) {
	case *Tell:
		w := words{fmt.Sprintf("r%d hears %s", out.To, event(out.Event))}
		w.add(out.Handoff.Local, "from its own session")
		w.add(out.Handoff.At != 0, "left at %d", out.Handoff.At)
		return w.String()
	case *Ask:
		return words{"ask", asked(out.Query)}.String()
	case StartTimer:
		return fmt.Sprintf("timer %d in %v", out.Timer, out.After)
	case StopTimer:
		return fmt.Sprintf("stop %d", out.Timer)
	case NewEpoch:
		return fmt.Sprintf("epoch %d", out.Epoch)
	case *Trouble:
		return fmt.Sprintf("r%d is in trouble: %s", out.To, out.Text)
	case *Note:
		w := words{"note " + []string{"Unanswered", "NotRemoved", "MayNotRemove", "Unowned", "NoRequest", "Polled", "Unannounced"}[out.What]}
		w.add(out.Node != "", "%s/%s", out.Path, out.Node)
		w.add(out.Tries != 0, "tries=%d", out.Tries)
		w.add(out.What == NoRequest, "%s", out.Detail)
		return w.String()
	}
	return fmt.Sprintf("%T %+v", out, out)
}

func event(ev machine.Event) string {
	w := words{ev.Kind.String()}
	w.add(ev.Op != 0, "op=%d", ev.Op)
	w.add(ev.Node != "", "%s", ev.Node)
	w.add(ev.Token != 0, "token=%s", placed(ev.Token))
	w.add(ev.Predecessor != "", "behind %s", ev.Predecessor)
	w.add(ev.Before != 0, "before=%d", ev.Before)
	w.add(ev.Missing, "missing")
	w.add(ev.First, "first")
	w.add(ev.Exhausted, "exhausted")
	w.add(ev.Unlock, "unlock")
	w.add(ev.Reason != "", "(%s)", ev.Reason)
	w.add(ev.Detail != "", "%s", ev.Detail)
	return w.String()
}

func placed(t messages.Token) string { return fmt.Sprintf("%d.%d", t.Zxid(), t.Place()) }

// asked writes a query.
func asked(query Query) string {
	w := words{strings.TrimPrefix(reflect.TypeOf(query).String(), "*coordinator.")}
	switch q := query.(type) {
	case *Create:
		w.add(true, "for %s", q.GUID)
		w.add(q.List, "and list")
	case *CreateAt:
		w.add(true, "%s beside %s", q.Name, q.Beside)
	case *SeekReclaimable:
		w.add(true, "for %s", q.Spec.ID)
	case *TakeOver:
		w.add(true, "%s for %s token=%s", q.From.Name, q.Name, placed(q.From.Token))
	case *Commit:
		for _, n := range q.Creates {
			w.add(true, "+%s(%d)%s", n.GUID, n.Place, map[bool]string{true: "+list"}[n.List])
		}
		for _, path := range q.Deletes {
			w.add(true, "-%s", path)
		}
		for _, path := range q.Exist {
			w.add(true, "if %s", path)
		}
	case *List:
		w.add(true, "%s", q.Path)
		w.add(q.Permits != 0, "permits=%d", q.Permits)
	case *Watch:
		w.add(true, "%s", q.Path)
	case *WatchChildren:
		w.add(true, "%s", q.Path)
	case *WatchContention:
		w.add(true, "%s/%s", q.Path, q.Node)
	case *ReadOwn:
		w.add(true, "%s", q.Path)
		w.add(q.Announce, "and announce")
	case *Look:
		w.add(true, "%s", q.Path)
		for _, id := range q.Seek {
			w.add(true, "for r%d", id)
		}
	case *RemoveContest:
		w.add(true, "%s czxid=%d guard=%s", q.Path, q.Czxid, q.Guard)
	case *Check:
		w.add(true, "%s", q.Path)
	}
	return w.String()
}

var (
	phases = [...]string{absent: "absent", creating: "creating", present: "present", deleting: "deleting",
		unknown: "unknown"}
	lives = [...]string{active: "active", ending: "ending", ended: "ended"}
)

// state writes what a coordinator keeps, as far as stories are about it.
func (s *story) state() {
	for _, r := range s.c.inOrder() {
		w := words{fmt.Sprintf("r%d %s, node %s", r.id, lives[r.life], phases[r.node.phase])}
		w.add(r.node.name != "", "%s", r.node.name)
		w.add(r.held, "holds")
		w.add(r.node.batchMates, "with batch mates")
		w.add(r.wait != nil, "waits")
		w.add(r.admitted != (r.node.phase != absent), "admitted %v", r.admitted)
		w.add(r.early != nil, "has an early listing")
		fmt.Fprintln(&s.out, w)
	}
	for _, path := range slices.Sorted(maps.Keys(s.c.epoch.paths)) {
		p := s.c.epoch.paths[path]
		w := words{path}
		w.add(p.info.Exists, "exists")
		w.add(p.info.Crowded, "crowded")
		w.add(p.info.Permits, "permits")
		for _, name := range slices.Sorted(maps.Keys(p.watchers)) {
			w.add(name != children, "watched %s", cmp.Or(name, "data"))
		}
		w.add(len(p.watchers[children]) > 0, "watched children")
		for _, q := range p.queues {
			w.add(len(q.burst.creates) > 0, "creates delayed %d", len(q.burst.creates))
			w.add(len(q.burst.deletes) > 0, "deletes delayed %d", len(q.burst.deletes))
		}
		fmt.Fprintln(&s.out, w)
	}
	w := words{}
	w.add(len(s.c.epoch.batch.waiting) > 0, "batch %d", len(s.c.epoch.batch.waiting))
	w.add(s.c.epoch.batch.underway > 0, "under way %d", s.c.epoch.batch.underway)
	w.add(len(s.c.epoch.parked) > 0, "parked %d", len(s.c.epoch.parked))
	w.add(s.c.bounds != DefaultBounds(), "weight %d", s.c.epoch.load.nodes)
	w.add(s.c.stale > 0, "stale %d", s.c.stale)
	if len(w) > 0 {
		fmt.Fprintln(&s.out, w)
	}
}
