// Package evidence decides until when a session lives for certain, from the requests that one
// process sends to the servers and from their answers. It is pure: no clock, goroutine or
// connection. The rule and its proof are in the doc of package zkconn, which feeds it. Package
// leasewalk runs it against a model of the servers.
//
//	chain.go    the chain: the events that extend, shorten and break it
//	trips.go    the rule of three round trips on one connection
//	pace.go     how often round trips are needed to keep it
//	state.go    copies of a chain, and its state in bytes, for package leasewalk
package evidence
