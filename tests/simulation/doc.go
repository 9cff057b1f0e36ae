// Package simulation runs whole clients against the embedded server in a world that one seed decides.
//
// A seed makes a plan: how many clients, replicas and lock paths there are, and a list of actions.
// Actions of clients ask for a lock, give it back, cancel, revoke, or stop a lock actor. Others
// deliver the next frames of a connection, hold frames up, or cut connections. Others stop, cut off
// or lag replicas, end sessions, delete nodes, or let time pass.
//
// The plan is carried out in a bubble of testing/synctest, one action after the other, each when
// all that came of the one before has come to an end. Between a client and the server stands a
// [link]. It takes every frame, of both directions, and passes it on when the plan says so. So the
// plan decides the interleaving of all messages.
//
// Two seeds in five have exclusive locks only. In the others each lock path has a use of its own:
//
//   - exclusive locks, of which some watch the whole queue, are in a second queue by its name, or
//     are taken again within a lease;
//   - readers and writers, with downgrades;
//   - a semaphore, with weights;
//   - a contest.
//
// In one seed of three the calls of a client share what they can. They come several at a time, for one
// lock and with the same wish: in cohorts, kept, both or neither. Nobody observes them, because an
// observer gives a call a hold of its own: they are known by what Lock gives and by their leases. So are
// calls within a lease.
//
// Every other client does without some fast paths, which the seed chooses.
//
// After every action the invariants of a lock are checked, by the bubble's clock, which stands
// still meanwhile:
//
//   - mutual exclusion among leases that are valid, readers never with a writer, permits never
//     above their number;
//   - tokens that rise, and grants in the order of the nodes;
//   - notices in an order that makes sense.
//
// In the end everything is healed, and every request must end. The queues must drain by watches and
// not by polls. No node, session or goroutine may be left.
//
// # What a seed decides, and what it does not
//
// Frames that one client sends in one instant come from goroutines that know nothing of each other.
// They are put into the order of their text, which the scheduler could have chosen, too. Frames
// with the same text are delivered together. GUIDs and jitter follow from the seed. A clock that
// moves a little after every frame sees to it that hardly two things are due at once. So a seed
// gives the same history again, frame by frame and transition by transition.
//
// TestReplay counts how many of how many do, with the race detector as well, which makes the
// scheduler as unpredictable as it can. The steps of several requests between two frames have no
// order, and are compared request by request.
//
// A seed does not decide the order in which goroutines of one client take note of one and the same
// frame, or of the loss of a connection. Nor does it decide the senders of two frames with the same
// text. It rarely matters: of 100 seeds all gave the same history twice, with the race detector
// some 90. In the others the order decided which of two waiters asked for a listing, or which of
// two deletes was answered first.
//
// # What the servers may do
//
// The leader ends a session when its timeout has passed since the leader touched it. Package
// embedded does that as ZooKeeper does, by the answers of followers to pings and by reconnects. The
// seed chooses the tick and the sync limit. An action may end a session earlier by up to 0.08 of
// the timeout, as if the leader's clock ran faster: the margin of a lease is 0.1.
//
// An operator who deletes a contender's node breaks its lock on purpose; that grant counts no more.
// A lost event excuses the poll that finds the same later. Nothing else is excused.
//
// Inside the ensemble
//
//   - one direction of a link between leader and follower may stall, for up to 3 T;
//   - the leader or a follower may be paused, and go on or be killed;
//   - a follower may die within milliseconds of a grant, or lose a touch that comes while it
//     answers a ping;
//   - a replica may grant other timeouts than before.
//
// Some actions do several things. They let a session be idle, stall a link or hold its frames up,
// and ask for a lock there and elsewhere. They heal the link when the other has the lock. The rule
// by which leases were counted once, 0.4 T from the newest committed transaction, fails at seed
// 818, which `make test` does not try: see package mistakes.
//
// TestMistakeIsFound has sessions ended too early, which must show. So must mistakes in the code: see package mistakes.
//
// # What is not simulated
//
// Other suites have clients that are opened while there are faults, processes that are paused,
// machines that are suspended, and clocks that jump. They also have access lists, and replies that
// never come on a connection that stays.
//
// # When it fails
//
// TestSimulation prints the seed, the plan made as short as it gets, the history as a story, and what to run to
// see it again:
//
//	go test ./tests/simulation -run TestSimulation -v -seed 17
//	go test ./tests/simulation -run TestSimulation -v -seed 17 -actions 0,3,21
//
// TURNSTILE_SIMULATION_SEEDS sets how many seeds are tried, -first where they begin.
package simulation
