package simulation

import (
	"time"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// actions inside the ensemble: links between replicas, replicas that pause or die at the wrong
// moment

// follower gives one of the present followers, with its number; nil when nobody leads, or nobody
// follows.
func (w *world) follower(by uint32) (leader, follower *embedded.Replica, number int) {
	leader = w.server.Leader()
	if leader == nil || w.plan.replicas == 1 {
		return nil, nil, 0
	}
	number = pick(by, w.plan.replicas)
	if follower = w.server.Replica(number); follower == leader {
		number = (number + 1) % w.plan.replicas
		follower = w.server.Replica(number)
	}
	return leader, follower, number
}

// stallQuorum stalls one direction of the link of one follower, until it is healed.
func (w *world) stallQuorum(a action) bool {
	leader, follower, number := w.follower(a.a)
	if leader == nil {
		return false
	}
	w.stallBetween(leader, follower, number, a.b%2 == 0)
	return true
}

func (w *world) stallBetween(leader, follower *embedded.Replica, number int, toFollower bool) {
	if toFollower {
		w.history.note("link from the leader to s%d stalls", number)
		leader.StallTo(follower)
		return
	}
	w.history.note("link from s%d to the leader stalls", number)
	follower.StallTo(leader)
}

func (w *world) healQuorum(action) bool {
	w.history.note("links between servers are healed")
	for _, r := range w.server.Replicas() {
		for _, other := range w.server.Replicas() {
			r.HealTo(other)
		}
	}
	return true
}

// divided gives a client of a follower, and one that is connected elsewhere; not known where there
// are no two.
func (w *world) divided(by uint32) (there, elsewhere *client, number int, known bool) {
	at := map[int]int{}
	for _, l := range w.net.open() {
		if l.session != 0 && l.client <= len(w.clients) && !w.clients[l.client-1].closing {
			at[l.client] = l.replica
		}
	}
	leader := w.server.Leader()
	for i := range w.clients {
		c := w.clients[(i+pick(by, len(w.clients)))%len(w.clients)]
		replica, connected := at[c.number]
		switch {
		case !connected:
		case there == nil && leader != nil && w.server.Replica(replica) != leader:
			there, number = c, replica
		case there != nil && replica != number:
			elsewhere = c
		}
	}
	return there, elsewhere, number, there != nil && elsewhere != nil
}

// acquaint has a client know the lock path that it will ask for, so that its next request is one
// transaction.
func (w *world) acquaint(c *client, a action) {
	before := len(w.requests)
	if !w.askAs(c, a) {
		return
	}
	r := w.requests[before]
	w.flowWhile(2*time.Second, func() bool { return !r.acquired() && !r.over() })
	if r.acquired() {
		w.giveBack(r, time.Second)
	}
	w.flow(50 * time.Millisecond)
}

// flowWhile lets time pass while something is so, or for so long.
func (w *world) flowWhile(most time.Duration, is func() bool) {
	for until := time.Now().Add(most); time.Now().Before(until); w.flow(2 * time.Millisecond) {
		w.mu.Lock()
		so := is()
		w.mu.Unlock()
		if !so {
			return
		}
	}
}

// stallQuorumAndAsk stalls a follower's link while its clients are idle. One of them asks for a
// lock, and so does somebody elsewhere. The link is healed when the request elsewhere has it, or after up to 3
// T.
func (w *world) stallQuorumAndAsk(a action) bool {
	there, elsewhere, number, known := w.divided(a.b)
	if !known {
		return false
	}
	w.acquaint(there, a)
	leader, follower := w.server.Leader(), w.server.Replica(number)
	if leader == nil || leader == follower {
		return false
	}
	w.stallBetween(leader, follower, number, a.b>>8%4 != 0)
	w.flow(there.timeout * time.Duration(20+a.c%80) / 100)
	w.askAs(there, a)
	w.flow(10 * time.Millisecond)
	w.askAs(elsewhere, a)
	w.flowUntilGrant(elsewhere, there.timeout*time.Duration(20+a.c>>8%280)/100)
	return w.healQuorum(a)
}

// flowUntilGrant lets time pass until a client is granted a lock, or for so long.
func (w *world) flowUntilGrant(c *client, most time.Duration) bool {
	before := c.grants
	w.flowWhile(most, func() bool { return c.grants == before })
	return c.grants > before
}

// pauseLeader stops the leader's process, and lets it go on later, unless it is killed then.
func (w *world) pauseLeader(a action) bool {
	leader := w.server.Leader()
	if leader == nil {
		return false
	}
	w.history.note("the leader is paused")
	leader.Pause()
	w.flow(part(w, a, 200))
	if a.c%3 == 0 {
		w.history.note("the leader is killed")
		leader.Stop()
		return true
	}
	w.history.note("the leader goes on")
	leader.Resume()
	return true
}

func (w *world) pauseFollower(a action) bool {
	_, follower, number := w.follower(a.c)
	if follower == nil {
		return false
	}
	w.history.note("s%d is paused", number)
	follower.Pause()
	w.flow(part(w, a, 200))
	w.history.note("s%d goes on", number)
	follower.Resume()
	return true
}

func (w *world) loseTouch(a action) bool {
	_, follower, number := w.follower(a.a)
	if follower == nil {
		return false
	}
	w.history.note("s%d loses a touch", number)
	follower.LoseTouch()
	return true
}

// holdUp keeps what a client sends, from some time after its newest packet on, for 0.1 to 0.9 of
// its timeout; then it asks for a lock, and its frames go on.
func (w *world) holdUp(c *client, a action) {
	w.flow(c.timeout * time.Duration(a.b>>16%34) / 100)
	w.history.note("frames of c%d are held up", c.number)
	for _, l := range w.net.open() {
		if l.client == c.number {
			w.net.stall(l, up)
		}
	}
	w.flow(c.timeout * time.Duration(10+a.c%80) / 100)
	w.askAs(c, a)
	w.still()
	w.net.restore()
}

func (w *world) holdUpAndAsk(a action) bool {
	c := w.clients[pick(a.b, len(w.clients))]
	w.acquaint(c, a)
	w.holdUp(c, a)
	return true
}

// killAfterGrant kills the follower of a client right after it was granted a lock. The client may
// be kept from connecting again; others ask for the same.
func (w *world) killAfterGrant(a action) bool {
	there, elsewhere, number, known := w.divided(a.b)
	if !known {
		return false
	}
	w.acquaint(there, a)
	if a.b>>8%2 == 0 {
		w.holdUp(there, a)
	} else {
		w.askAs(there, a)
	}
	if !w.flowUntilGrant(there, time.Second) {
		return false
	}
	w.net.withhold(there.number, a.b>>12%3 != 0)
	w.history.note("s%d is killed, right after a grant", number)
	w.server.Replica(number).Stop()
	w.askAs(elsewhere, a)
	w.flow(there.timeout * time.Duration(50+a.c>>8%100) / 100)
	w.net.withhold(0, false)
	return true
}

// changeTimeouts has a replica grant other timeouts, shorter or longer ones than what clients ask
// for.
func (w *world) changeTimeouts(a action) bool {
	number := pick(a.a, w.plan.replicas)
	least := 2 * w.plan.tick
	most := least + time.Duration(a.b%16)*time.Second
	if a.c%3 == 0 {
		least, most = 10*time.Second, time.Minute
	}
	w.history.note("s%d allows timeouts from %v to %v", number, least, most)
	w.server.Replica(number).SetSessionTimeouts(least, most)
	return true
}
