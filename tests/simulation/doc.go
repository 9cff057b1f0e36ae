// Package simulation runs whole clients against the embedded server in a world that one seed decides.
//
// A seed makes a plan: how many clients, replicas and lock paths there are, and a list of actions: ask for a
// lock, give it back, cancel, ask for it back, stop a lock actor, deliver the next frames of a connection, hold
// frames up, cut connections, stop, cut off or lag replicas, end sessions, delete nodes, let time pass. The plan
// is carried out in a bubble of testing/synctest, one action after the other, each when all that came of the
// one before has come to rest. Between a client and the server stands a [link] that takes every frame, of both
// directions, and passes it on when the plan says so; so the plan decides the interleaving of all messages.
//
// After every action the invariants of a lock are checked, by the bubble's clock, which stands still meanwhile:
// mutual exclusion among leases that are valid, tokens that rise, notices in an order that makes sense. In the
// end everything is healed, and every request must end, the queues must drain by watches and not by polls, no
// node, session or goroutine may be left.
//
// # What a seed decides, and what it does not
//
// Frames that one client sends in one instant come from goroutines that know nothing of each other: they are
// put into the order of their text, which is one that the scheduler could have chosen. With that, with GUIDs and
// jitter that follow from the seed, and with a clock that moves a little after every frame so that hardly two
// things are due at once, a seed gives the same history again: TestReplay says how many of how many do.
//
// # When it fails
//
// TestSimulation prints the seed, the plan made as short as it gets, the history as a story, and what to run to
// see it again:
//
//	go test ./tests/simulation -run TestSimulation -seed 17
//
// TURNSTILE_SIMULATION_SEEDS sets how many seeds are tried, -first where they begin.
package simulation
