package main

import (
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// scenario is a fault and the contenders around it.
type scenario struct {
	name  string
	about string
	// play plays one round.
	play func(r *round) error
	// servers configures the ensemble, beyond the tick; nil: nothing more.
	servers func(o options) []rig.Option
	// most bounds the trials of a round; 0: no bound but the width that was asked for.
	most int
	// overlapping is the number of session timeouts for which two leases may be valid: an operator
	// that closes the session of a living process takes its lock away before its lease is over.
	overlapping float64
	// members is the number of servers: three, or one.
	members int
}

var scenarios = []*scenario{
	{"down-idle", "leader to follower stalls; sessions at the follower were idle", stalledLink(true, idle), patient, 0, 0, 3},
	{"down-busy", "the same; the sessions were locking other paths", stalledLink(true, busy), patient, 0, 0, 3},
	{"down-fresh", "the same; the sessions have just connected", stalledLink(true, fresh), patient, 0, 0, 3},
	{"up-idle", "follower to leader stalls; sessions at the follower were idle", stalledLink(false, idle), patient, 0, 0, 3},
	{"up-busy", "the same; the sessions were locking other paths", stalledLink(false, busy), patient, 0, 0, 3},
	{"up-fresh", "the same; the sessions have just connected", stalledLink(false, fresh), patient, 0, 0, 3},
	{"kill", "frames to a follower held up, locks, and the follower is killed", killedFollower, patient, 12, 0, 3},
	{"leader-ask", "idle sessions at a follower ask while the leader is paused", askedWhilePaused, patient, 0, 0, 3},
	{"leader-pause", "the leader is paused for 0.2 to 3 T and goes on", pausedLeader(false), hasty, 0, 0, 3},
	{"leader-kill", "the leader is paused for 0.2 to 3 T and killed", pausedLeader(true), hasty, 0, 0, 3},
	{"frames", "frames held up, locks, and clients cannot dial again; or pings stall, too", heldFrames, patient, 0, 0, 3},
	{"shrink", "a reconnect is granted T instead of 15 T, and the client is cut off", movedTimeout(false), unequal, 0, 0, 3},
	{"grow", "a reconnect is granted 15 T instead of T; cut off, and the leader is killed", movedTimeout(true), unequal, 0, 0, 3},
	{"ended-elsewhere", "a holder's session is closed at its follower while it reconnects there", endedElsewhere, patient, 0, 1, 3},
	{"broken", "a holder's node is broken, and its session lives", brokenNode, patient, taken, 1, 3},
	{"closed-elsewhere", "a holder's session is closed through another server than its own", closedThrough(false, false), patient, taken, 1, 3},
	{"closed-alone", "through its own server, which is the only one in the holder's connect string", closedThrough(true, false), patient, taken, 1, 3},
	{"closed-of-three", "through its own server, and the connect string names three", closedThrough(true, true), patient, taken, 1, 3},
	{"masses-one", "one server ends many sessions, with a slow log; clients reconnect meanwhile", massExpiry, slowLog, 0, 0, 1},
	{"masses-three", "the same; an ensemble, and the clients at a follower", massExpiry, slowLog, 0, 0, 3},
	{"masses-leader", "the same; an ensemble, and the clients at its leader", massExpiryAtLeader, slowLog, 0, 0, 3},
}

// taken is the number of locks that are taken away in one round, each at some time of T: so few that none waits for another.
const taken = 10

// patient servers outwait every stall: neither side of a link gives the other up.
func patient(o options) []rig.Option { return silences(o, 8*o.timeout) }

// hasty servers elect another leader when they have not heard of theirs for about T.
func hasty(o options) []rig.Option { return silences(o, o.timeout) }

// silences configures after how long without a word members give each other up.
func silences(o options, d time.Duration) []rig.Option {
	return []rig.Option{
		rig.WithConfig("syncLimit", ticks(o, d)), rig.WithMaxSessionTimeout(60 * time.Second),
		// A member that does not answer is given up sooner than by default: the next round begins sooner.
		rig.WithConfig("initLimit", ticks(o, 5*time.Second)), rig.WithSystemProperty("zookeeper.cnxTimeout", "1000"),
	}
}

// unequal servers differ in the timeouts that they grant: see movedTimeout.
func unequal(o options) []rig.Option {
	return append(silences(o, o.timeout),
		rig.WithMember(generous, rig.WithMaxSessionTimeout(long(o)), rig.WithMinSessionTimeout(long(o))),
		rig.WithMember(strict, rig.WithMaxSessionTimeout(o.timeout)))
}
