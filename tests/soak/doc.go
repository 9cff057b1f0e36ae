// Soak subjects locks to an ensemble that keeps failing, for as long as one likes, and judges what
// came of it.
//
//	go run ./tests/soak -duration 1h -v                        # Turnstile
//	go run ./tests/soak -duration 1h -peer zklock -json >zk.json # go-zookeeper's zk.Lock, the same faults
//	go run ./tests/soak -duration 1h -beside zk.json             # Turnstile, with zk.Lock's figures beside
//
// It needs what package rig needs. Everything is on loopback, and ends with the controller. An interrupt
// ends a run early, in order. Histories go where -history says. When something is found that must not
// be, the ends of all logs are kept there too, or in a temporary folder, which is then named.
//
// # Who does what
//
// The controller starts an ensemble of real servers that can be partitioned, a proxy for every client
// and server, and the clients: processes of this same program with -role client, each with workers that
// lock, write to a fenced resource while they hold, and unlock. The resources and the judge are in the
// controller; nothing that is judged takes part in judging. The controller breaks things by a schedule
// that is drawn from -seed: one fault of the ensemble and one of a client at a time.
//
// # What is judged
//
// Times are instants of the machine's monotonic clock, which all processes share. A worker reports
// what it knows for certain: an instant at which its lease was valid was read before the lease was
// asked. A lease that ran out while its process stood still was valid until the deadline that was read
// last.
//
//   - double holders: two intervals of certainly valid leases of one lock overlap. However many others
//     held meanwhile, the one that was granted first is counted, once.
//   - tokens out of order: a grant whose lease is valid has no greater token than one before it.
//   - valid holders refused: the resource refused a write for its token, and the lease was valid after
//     that.
//   - orphans: a node that is still there when no request is under way, and the sessions of clients that
//     were killed have had the time to expire. Every few minutes all faults are repaired and all requests
//     end, to look for them. Nodes that may be those of requests that never ended are not counted.
//   - requests that never ended: a call of Lock or Unlock did not return within its context and a
//     generous grace; time in which its process was stopped does not count. Or a process did not end
//     when it was told to.
//   - histories not linearizable: see history.go.
//
// Servers themselves may come to differ, by bugs of theirs: see replicas.go. The soak then goes on with a new
// ensemble, and what was found in between is counted apart, for it says nothing of the library.
//
// Any of them makes the exit status 1 for Turnstile. Writes that come late, after the lease has ended,
// are no error: workers write on purpose with a delay after they looked at their lease, and once more
// after they have lost it. The fence is there to refuse them, and those that it refused are counted.
package main
