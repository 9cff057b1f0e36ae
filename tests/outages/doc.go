// Command outages measures how long an outage a lease survives, on real servers that it starts.
//
//	go run ./tests/outages                                      T = 4 s and 10 s, one server and an ensemble of three
//	go run ./tests/outages -timeouts 30s -lengths 0.2,0.3,0.4    more of T, longer outages
//	go run ./tests/outages -how hang-up                          servers that accept and hang up, as those without a quorum do
//	go run ./tests/outages -dead 1                               one more server in the list whose packets are dropped
//	go run ./tests/outages -together                             all sessions lose their connections at the same moment
//
// Each session holds a lock, and reaches each server through a relay of its own. In an outage its relays reset their
// connections and refuse new ones; afterwards they serve again. Outages begin at any phase of the heartbeat. A lease that
// is lost is replaced by another before the next outage.
//
// A line is printed for each kind of servers, session timeout T and length:
//
//	outages   how many there were
//	lost      leases that were lost in them
//	disturbed outages beside these that do not count, and leases that were lost in them: a write of another session, past
//	          the relays, took longer than 0.01 T meanwhile, or the lease had less than 0.22 T to run when the outage
//	          began, because the machine or the servers were busy; -v says which
//	attempts  to connect, for each outage: the mean, and the most
//	back      from the end of the outage until the lease was renewed: the median, 99 of 100, and the longest
//	spare     the least that a lease still had to run when it was renewed, as a part of T
//
// Package stalls beside this one looks for two that hold at once, under faults that are longer or of
// another kind. Here nobody waits behind a holder. Each outage shows whether its lease lives on.
//
// It needs what package rig needs. The exit status is 1 when a lease was lost in an outage of at most -survive of T, 0.2
// unless told otherwise.
package main
