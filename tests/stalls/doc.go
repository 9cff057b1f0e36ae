// Command stalls attacks the rule by which a lease is valid. No two contenders of a lock path may
// have valid leases at the same time, under any fault of a network, a leader or a follower.
//
//	go run ./tests/stalls -scenario down-idle -timeout 2s -tick 500ms -trials 200
//
// A trial is one lock path with contenders at different members of a real ensemble. A round is one
// fault that befalls many trials at once. A direction of a link inside the ensemble stalls, a
// follower is killed right after a grant, or the leader is paused. Or the frames of a client are
// held up, or a reconnect brings another session timeout. Or a server with a slow log ends many
// sessions, and clients reconnect meanwhile. Or somebody else closes a client's session, or breaks
// its node. The table in scenario.go lists them.
//
// An overlap is counted only when it is certain. A hold is known to be valid at an
// instant when the clock is read first and Lease.Valid is true afterwards, since a
// lease that is over stays over. Two holds overlap when there is an instant that
// lies between the first and the last such instant of both. Every pair of holds of
// a lock path is compared. The report has, for each scenario:
//
//	trials       lock paths that were fought for
//	granted      valid grants to the side that the fault befalls
//	to others    valid grants to the other side
//	overlaps     trials with two valid leases at one instant; where somebody else takes the lock away
//	             (broken, ended-elsewhere, closed-...), for longer than T
//	longest      the longest time for which two were valid
//	disorder     valid grants with a smaller token than an earlier one
//	too late     grants whose lease was over when Lock returned
//	lost         leases that ended before they were given back
//	needlessly   of these: those whose session lived on
//	failed       calls of Lock that returned an error
//	never        requests that were not granted within a minute of the fault's end
//	relisted     times a waiter found by listing the queue again what no event had told it
//	waited       in masses-..., how long the clients that were cut off waited for a grant, from when they
//	             could reconnect and their former hold was gone at the servers: half of them, 99 of
//	             100, and all waited no longer
//
// The findings of broken and closed-... are in locks/LIMITS.md.
//
// How long an outage a lease survives is measured by package outages beside this one. It has taken
// over five scenarios in which nobody waited behind a holder, so that no two could hold. It plays
// them on the same three servers, and fails where a lease is lost in up to 0.2 T:
//
//	calm          column disturbed: leases that the machine itself loses
//	outage-0.05   -servers three -lengths 0.05
//	outage-0.10   -servers three -lengths 0.10
//	outage-0.15   -servers three -lengths 0.15
//	outage-0.20   -servers three -lengths 0.20
//
// The exit status is 1 when there was an overlap, a token out of order, a request never granted, or
// a waiter that no event had told. Leases that are lost are figures, no failures: a machine under
// load loses some.
package main
