package simulation

import (
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// kind is one kind of action. do reports whether the action was possible.
type kind struct {
	name   string
	weight int
	fault  bool // half of the seeds do without
	do     func(*world, action) bool
}

// kinds are all of them. Filled at start: the actions refer to it.
var kinds []kind

func init() {
	kinds = []kind{
		{"ask", 24, false, (*world).ask},
		{"give back", 14, false, (*world).giveBackSome},
		{"flow", 20, false, func(w *world, a action) bool { w.flow(time.Duration(1+a.a%300) * time.Millisecond); return true }},
		{"flow on", 5, false, func(w *world, a action) bool { w.flow(part(w, a, 150)); return true }},
		{"deliver", 14, false, (*world).deliverSome},
		{"cancel", 4, true, (*world).cancelSome},
		{"request revoke", 3, true, (*world).sendRevokeRequest},
		{"stop lock actor", 3, true, (*world).stopActor},
		{"let connect", 3, false, (*world).letConnect},
		{"refuse connection", 3, true, (*world).refuse},
		{"stand still", 4, true, func(w *world, a action) bool { time.Sleep(part(w, a, 120)); return true }},
		{"cut", 4, true, (*world).cut},
		{"cut after requests", 4, true, (*world).cutAfter},
		{"stall", 4, true, (*world).stall},
		{"go on", 2, true, func(w *world, a action) bool { w.net.restore(); return true }},
		{"lose event", 3, true, (*world).loseEvent},
		{"expire", 4, true, (*world).expire},
		{"silence and expire", 5, true, (*world).silenceAndExpire},
		{"lag", 3, true, strike("lags", (*embedded.Replica).Lag)},
		{"catch up", 2, true, strike("catches up", always((*embedded.Replica).CatchUp))},
		{"cut off", 3, true, strike("is cut off", always((*embedded.Replica).CutOff))},
		{"rejoin", 3, true, strike("rejoins", always((*embedded.Replica).Rejoin))},
		{"stop replica", 3, true, strike("stops", always((*embedded.Replica).Stop))},
		{"start replica", 4, true, strike("starts", (*embedded.Replica).Start)},
		{"stop all replicas", 1, true, strikeAll("stop", always((*embedded.Replica).Stop))},
		{"start all replicas", 2, true, strikeAll("start", (*embedded.Replica).Start)},
		{"stall quorum link", 4, true, (*world).stallQuorum},
		{"heal quorum links", 2, true, (*world).healQuorum},
		{"stall quorum link and ask", 10, true, (*world).stallQuorumAndAsk},
		{"pause leader", 3, true, (*world).pauseLeader},
		{"pause follower", 2, true, (*world).pauseFollower},
		{"lose touch", 2, true, (*world).loseTouch},
		{"hold up and ask", 6, true, (*world).holdUpAndAsk},
		{"kill follower after grant", 10, true, (*world).killAfterGrant},
		{"change timeouts", 2, true, (*world).changeTimeouts},
		{"delete node", 2, true, (*world).deleteNode},
		{"delete lock path", 1, true, (*world).deletePath},
		{"close client", 1, true, (*world).closeClient},
	}
}

// part is a time up to percent of the session timeout of one of the clients.
func part(w *world, a action, percent int64) time.Duration {
	timeout := w.plan.timeouts[pick(a.a, len(w.plan.timeouts))]
	return timeout * time.Duration(int64(a.b)%percent+1) / 100
}

// perform carries out one action, waits until all is still, and checks.
func (w *world) perform(a action) {
	kinds[a.kind].do(w, a)
	w.still()
}

// actions about time and frames

func (w *world) deliverSome(a action) bool {
	places := w.net.waiting()
	if len(places) == 0 {
		return false
	}
	at := places[pick(a.a, len(places))]
	for range 1 + a.b%4 {
		w.net.deliver(at)
		w.check()
		w.rest()
	}
	return true
}

func (w *world) letConnect(a action) bool {
	dials := w.net.pendingDials()
	if len(dials) == 0 {
		return false
	}
	w.net.answer(dials[pick(a.a, len(dials))], pick(a.b, w.plan.replicas))
	return true
}

func (w *world) refuse(a action) bool {
	dials := w.net.pendingDials()
	if len(dials) == 0 {
		return false
	}
	w.net.refuse(dials[pick(a.a, len(dials))])
	return true
}

func (w *world) someLink(a action) *link {
	links := w.net.open()
	if len(links) == 0 {
		return nil
	}
	return links[pick(a.a, len(links))]
}

func (w *world) cut(a action) bool {
	l := w.someLink(a)
	if l != nil {
		w.net.cut(l)
	}
	return l != nil
}

// cutAfter lets the server have the requests that are under way to it, and the client none of the answers.
func (w *world) cutAfter(a action) bool {
	l := w.someLink(a)
	if l == nil {
		return false
	}
	for range 8 {
		w.net.deliver(place{l, up})
		w.check()
		w.rest()
	}
	w.net.cut(l)
	return true
}

func (w *world) stall(a action) bool {
	l := w.someLink(a)
	if l == nil {
		return false
	}
	d := direction(a.b % 2)
	w.history.note("%s: stalls", place{l, d})
	w.net.stall(l, d)
	return true
}

func (w *world) loseEvent(a action) bool {
	l := w.someLink(a)
	if l == nil || !w.net.lose(l) {
		return false
	}
	w.clients[l.client-1].lostEvents++
	return true
}
