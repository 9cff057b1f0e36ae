package coordinator

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/asks"
)

// tell carries out one line of a story.
func (s *story) tell(command string, args *arguments) {
	switch command {
	case "request":
		s.request(args)
	case "answer":
		ask := s.taken(args, args.next(), strings.Join(args.values("for"), ","))
		s.at.Took = args.time("took", 0)
		s.apply(&Reply{ID: ask.ID, Answer: s.answer(ask.Query, args)})
		s.at.Took = 0
	case "deleted":
		s.apply(Changed{longPath(args.next()), NodeDeleted})
	case "written":
		s.apply(Changed{longPath(args.next()), DataChanged})
	case "children":
		s.apply(Changed{longPath(args.next()), ChildrenChanged})
	case "connected":
		s.apply(Connected{sessionTimeout})
	case "disconnected":
		s.apply(Disconnected{})
	case "lapsed":
		s.apply(Lapsed{})
	case "expired":
		s.apply(Expired{})
	case "fires":
		s.apply(Fired{s.fired(args, args.next())})
	case "lease":
		s.at.Lease.Valid = args.next() == "valid"
		s.at.Lease.Term = uint64(args.number("term", int(s.at.Lease.Term)))
		s.at.Lease.Left = args.time("left", s.at.Lease.Left)
	case "unused":
		fmt.Fprintln(&s.out, s.c.Unused(split(longPath(args.next()))))
	case "keep":
		s.kept[args.next()] = s.copied()
	case "state":
		s.state()
	default:
		s.order(requestID(args, command), args)
	}
}

func requestID(args *arguments, name string) RequestID {
	n, err := strconv.ParseUint(strings.TrimPrefix(name, "r"), 10, 64)
	if err != nil || name[0] != 'r' {
		args.wrong("%q is neither a command nor a request", name)
	}
	return RequestID(n)
}

// request reads what a request wants.
func (s *story) request(args *arguments) {
	name := args.next()
	path := args.next()
	want := asks.Read(args.t, func(word string) (string, bool) { return args.text(word, ""), args.has(word) })
	want.Path, want.Beside = path, long(want.Beside)
	s.specs[requestID(args, name)] = NewSpec(&want, name, "actor-of-"+name, time.Time{})
	s.specs[requestID(args, name)].Requester = args.text("requester", "")
}

// order has a lock actor give an order, or end.
func (s *story) order(id RequestID, args *arguments) {
	name := args.next()
	if name == "ends" {
		s.apply(Ended{id})
		return
	}
	if s.specs[id] == nil {
		args.wrong("nobody has said what it wants")
	}
	do := machine.Create
	for ; do.String() != name; do++ {
		if do > machine.CleanUp {
			args.wrong("no order is called %q", name)
		}
	}
	op := s.ops[id]
	if do != machine.Withdraw && do != machine.CleanUp && do != machine.WatchQueue && do != machine.CheckOwn {
		op++
	}
	op = uint64(args.number("op", int(op)))
	s.ops[id] = max(s.ops[id], op)
	order := &Order{Request: id, Spec: s.specs[id], Epoch: uint64(args.number("epoch", 0)),
		Moment: Moment(args.number("moment", 0)),
		Effect: machine.Effect{Do: do, Op: op, Node: long(args.text("node", "")), Ending: args.has("ending")}}
	s.apply(order)
}

// answer reads what the servers say to a query.
func (s *story) answer(query Query, args *arguments) Answer {
	f := args.failure()
	czxid := func(number int) int64 { return int64(args.number("czxid", 100+number)) }
	switch q := query.(type) {
	case *Create:
		return created(q, f, args)
	case *CreateAt:
		a := &Created{Failure: f}
		if f.none() {
			a.Node = Made{Name: q.Name, Czxid: czxid(0), First: true}
		}
		return a
	case *SeekReclaimable:
		a := &Reclaimable{Failure: f}
		if args.has("left") {
			a.Name, a.Number = long(args.text("left", "")), int32(args.number("number", 0))
			a.Token, _ = messages.NewToken(czxid(0), args.number("place", 1))
		}
		return a
	case *TakeOver:
		a := &Created{Failure: f}
		if f.none() {
			a.Node = Made{Name: q.Name, Czxid: czxid(0), First: true}
		}
		return a
	case *Commit:
		a := &Committed{Failure: f}
		first := args.number("from", 1)
		for i, n := range q.Creates {
			if f.none() {
				a.Made = append(a.Made, Made{Name: nameOf(n.Spec.Style, n.GUID, first+i), Czxid: czxid(first), Place: n.Place,
					First: n.Place == 0 && !args.has("others")})
			}
		}
		return a
	case *List:
		return &Listed{view(args, args.number("permits", q.Permits), f)}
	case *WatchChildren:
		return &Listed{view(args, 0, f)}
	case *Watch:
		return &Read{Data: []byte(args.text("data", "")), Version: int32(args.number("version", 0)), Czxid: czxid(0), Failure: f}
	case *WatchContention:
		return &Contention{Failure: f, Alone: !args.has("others"), Spent: args.has("spent") || !f.none()}
	case *ReadOwn:
		return &Read{Data: []byte(args.text("data", "")), Czxid: czxid(0), Failure: f}
	case *Look:
		a := &Looked{Failure: f}
		for _, name := range args.names("shows") {
			ours, sought := q.Finds(name)
			n := Seen{Name: name}
			if sought {
				number, _ := queue.Sequence(name)
				n.Czxid = czxid(int(number))
			}
			if ours {
				a.Nodes = append(a.Nodes, n)
			}
		}
		return a
	default:
		return &Ack{f}
	}
}

func view(args *arguments, permits int, f Failure) View {
	return View{Queue: queue.NewListing(args.names("shows"), permits), Permits: permits, Failure: f}
}

// created answers a Create: number=1 of the node, first in the queue, or the node of a contest that exists; made where it is
// there though something has failed.
func created(q *Create, f Failure, args *arguments) *Created {
	sp := q.Spec
	a := &Created{Failure: f, Info: Info{Exists: true, Permits: sp.Permits > 0}}
	switch args.text("info", "") {
	case "none":
		a.Info = Info{}
	case "exists":
		a.Info = Info{Exists: true}
	}
	if args.has("early") {
		early := View{Queue: queue.NewListing(args.names("early"), sp.Permits), Permits: sp.Permits}
		if args.has("early-fails") {
			early.Failure = Failure{Outcome: Unknown}
		}
		a.Node.Early = &early
	}
	if !a.Failure.none() && !args.has("made") {
		return a
	}
	number := args.number("number", 0)
	a.Node.Name, a.Node.Czxid = nameOf(sp.Style, q.GUID, number), int64(args.number("czxid", 100+number))
	if args.has("first") {
		a.Node.First = true
	}
	if sp.One != "" {
		a.Node.Name, a.Node.First = sp.One, true
	}
	return a
}
