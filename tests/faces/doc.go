// Package faces shows what is the same by each face of Turnstile: package locks, lock actors, and a
// gateway.
//
// A cell of its tables says who stands in the queue, what happens, and what must come out: the
// states, the notices, and the error that a caller gets. Each cell is played by every face, on an
// embedded server, a real one and an ensemble of three. TestSeveralLocks and
// TestCloseMakesNoDeadLetters are of package locks. Other tests of one face alone are elsewhere: see packages
// leases, actors and gateway beside this one.
//
// The gateway and its requester are actors of one system here. Package gateway has them on nodes
// that are cut, stopped and killed.
package faces
