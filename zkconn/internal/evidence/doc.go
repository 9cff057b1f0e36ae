// Package evidence decides until when a session lives for certain, from the requests that one
// process sends to the servers and from their answers. It is pure: no clock, goroutine or
// connection. The proof is in the doc of package zkconn, which feeds it. Package leasewalk runs it
// against a model of the servers.
//
// A [Chain] has the proofs of one session. Each says that the leader touched the session at or
// after an instant, so the session cannot be due for a timeout from then. The next proof counts
// only if its answer comes before that: then its touch moved a session that was not due. A later
// one proves nothing, for the leader may have taken the session off its queue before. The chain is
// then broken, for good.
//
//	chain.go    the chain: the events that extend, shorten and break it
//	trips.go    the rule of three round trips on one connection
//	pace.go     how often round trips are needed to keep it
//	state.go    copies of a chain, and its state in bytes, for package leasewalk
package evidence
