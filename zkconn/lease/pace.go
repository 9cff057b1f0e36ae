package lease

// Keeping is the purpose for which a session is kept.
type Keeping uint8

const (
	// Idle sessions have nothing at the servers.
	Idle Keeping = iota
	// Leased sessions have an owner that sends a transaction each T/6.
	Leased
	// Owning sessions have nodes for which nobody sends transactions, such as ephemeral nodes of a
	// Txn.
	Owning
)

// How often round trips are needed. The newest proof of an answered request R has a Y that was sent
// 2 r + 7/24 T + 1/24 T before R, and up to two paces more, because round trips go out one pace
// apart: r is the duration of a round trip. The next proof is answered a pace and a round trip
// later. The chain lasts if that comes before Y's end:
//
//	3 r + T/3 + 3 pace < T − T/10
const (
	// idlePace is the pace of a session that has no lease to keep: it leaves 0.25 T for a round
	// trip, or for a process that is held up. T/5 would leave 0.1 T; T/4 breaks each chain. It is
	// not quite a sixth: in simulated time two timers that are due at the same instant fire in any
	// order, and a history could not be played again.
	idlePace = 0.161
	// lastingPace puts one sync between two transactions of the owner's, which come each T/6, and
	// leaves 0.35 T: a lost lease costs more than a lost session.
	lastingPace = 0.093
	// slackOfPace is (1 − 1/10 − 1/3)/3 less a hundredth and a half for timers that are late.
	slackOfPace = 0.175
	// slackOfFirst is half of 1 − 1/10 − 1/3: the first proof after a connect needs 4 r + T/3 and two paces.
	slackOfFirst = 0.28
	// fastestPace bounds the rate at which a session sends. Above a round trip of T/7 no pace is
	// enough.
	fastestPace = 1.0 / 32
	// commitPace bounds the time that a lease may stay without a transaction. Its owner's, each
	// T/6, comes first; otherwise one goes out in place of a sync, at lastingPace: 0.279 T after
	// the last.
	commitPace = 1.0/6 + 1.0/24
	// owningPace is the pace of the transactions of an Owning session: a sixth, less what timers
	// are late by, with a sync in between.
	owningPace = idlePace
	// slowTrip is the round trip from which a lease needs more transactions than one each T/6, one
	// at a time.
	slowTrip = 1.0 / 24
)

// Next gives when the next round trip is due if nothing else goes out, and whether it is to be a
// transaction; false while there is no connection on which anything could be proved.
func (c *Chain) Next(kept Keeping) (due Instant, committed, some bool) {
	if c.phase != answered {
		return 0, false, false
	}
	every := Fraction(c.timeout, lastingPace)
	if kept == Idle {
		every = Fraction(c.timeout, idlePace)
	}
	slow := min(Fraction(c.timeout, slackOfPace)-c.slowest, Fraction(c.timeout, slackOfFirst)-2*c.slowest)
	every = max(min(every, slow), Fraction(c.timeout, fastestPace))
	due = c.lastTrip + every
	commit := c.lastCommit + Fraction(c.timeout, commitPace)
	if kept == Owning {
		commit = c.lastCommit + Fraction(c.timeout, owningPace)
		due = min(due, commit)
	}
	committed = kept != Idle && (c.slowest > Fraction(c.timeout, slowTrip) || due >= commit)
	return due, committed, true
}
