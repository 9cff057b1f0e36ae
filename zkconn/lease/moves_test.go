package lease_test

import (
	"fmt"
	"slices"

	"github.com/turnstile-locks/turnstile/zkconn/lease"
)

// moveKind is the kind of a move.
type moveKind uint8

const (
	passes    moveKind = iota // time, by one unit
	sendsPing                 // a leader pings
	sends                     // the client sends a request; at: its kind
	cuts                      // the client's connection is lost
	connects                  // at: to a member
	stalls                    // a stream; at: the member, way
	delivers                  // one message of a stalled stream
	heals
	takes // a leader's tracker takes the session off its queue
	removes
	elects
	joins // at: a member follows the second leader
	lags  // the client's clock falls behind
	loses // the next put at the follower comes as the table is swapped
	ends  // another client ends the session
)

var names = [...]string{"time passes", "leader pings", "send", "cut", "connect to", "stall", "deliver one of", "heal", "take off the queue at",
	"remove at", "elect", "joins the new leader", "clock lags", "a put is lost", "another client ends the session"}

type move struct {
	kind    moveKind
	at, way uint8
}

func (m move) String() string { return fmt.Sprintf("%s %d.%d", names[m.kind], m.at, m.way) }

// moves lists what can happen.
func (w *world) moves(to []move) []move {
	l, p := w.left, w.plan
	may := func(yes bool, m move) {
		if yes {
			to = append(to, m)
		}
	}
	half, clockGoes := w.half(), true
	for _, s := range []int{first, second} {
		t, since := &w.trackers[s], w.now-w.trackers[s].pinged
		clockGoes = clockGoes && (!w.runs(s) || since < half+p.Late)
		may(w.runs(s) && since >= half, move{kind: sendsPing, at: uint8(s)})
		may(w.runs(s) && t.life == queued && w.now >= t.due, move{kind: takes, at: uint8(s)})
		may(w.authority == s && t.life == taken, move{kind: removes, at: uint8(s)})
	}
	may(clockGoes, move{kind: passes})
	early := p.Until == 0 || w.now <= p.Until
	if w.connected && early {
		may(l.Local > 0, move{kind: sends, at: uint8(lease.Local)})
		may(l.Ordered > 0, move{kind: sends, at: uint8(lease.Ordered)})
		may(l.Committed > 0, move{kind: sends, at: uint8(lease.Committed)})
	}
	may(w.at >= 0 && l.Cuts > 0, move{kind: cuts})
	for _, s := range p.Servers {
		may(w.at < 0 && l.Connects > 0, move{kind: connects, at: uint8(s)})
	}
	for s := range w.pipes {
		for way := range w.pipes[s] {
			q, m := &w.pipes[s][way], move{at: uint8(s), way: uint8(way)}
			relevant := (s == p.Start || slices.Contains(p.Servers, s)) && (way == in || way == out || !w.runs(s))
			m.kind = stalls
			may(!q.stalled && l.Stalls > 0 && early && p.Ways[way] && relevant, m)
			m.kind = heals
			heal := q.stalled && !(p.Forever && (way == up || !early))
			may(heal, m)
			m.kind = delivers
			may(heal && len(q.all) > 1, m)
		}
	}
	may(l.Elections > 0 && w.authority == first, move{kind: elects})
	if w.authority == second {
		for s := first; s <= follower; s++ {
			may(w.members[s].leader != second, move{kind: joins, at: uint8(s)})
		}
	}
	may(l.Ends > 0 && w.trackers[w.authority].life != removed, move{kind: ends})
	may(l.Lags > 0 && early, move{kind: lags})
	may(l.Losses > 0 && !w.losing && w.members[follower].swapped == w.now && !w.members[follower].lossUsed, move{kind: loses})
	return to
}

// make makes a move.
func (w *world) make(m move) {
	l := &w.left
	switch m.kind {
	case passes:
		w.now++
		w.losing = false
	case sendsPing:
		w.pings(int(m.at))
	case sends:
		*[...]*uint8{&l.Local, &l.Ordered, &l.Committed}[m.at]--
		w.send(lease.Kind(m.at))
	case cuts:
		l.Cuts--
		w.cut()
	case connects:
		l.Connects--
		w.connect(int(m.at))
	case stalls:
		l.Stalls--
		w.pipes[m.at][m.way].stalled = true
	case delivers:
		w.deliver(int(m.at), int(m.way))
	case heals:
		w.pipes[m.at][m.way].stalled = false
	case takes:
		w.trackers[m.at].life = taken
	case removes:
		w.trackers[m.at].life = removed
	case elects:
		l.Elections--
		w.elect()
	case joins:
		w.leaves(int(m.at), second)
	case lags:
		l.Lags--
		w.stands = w.shown()
		w.lag += w.plan.Lag
	case ends:
		l.Ends--
		w.trackers[w.authority].life, w.elsewhere = removed, w.now
	case loses:
		l.Losses--
		w.losing = true
	}
	w.run()
	w.last = m
}
