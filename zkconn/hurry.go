package zkconn

// Hurry says whether reconnecting is urgent. It is while anything is held: that is lost unless the
// client is connected again before the lease ends. Call it when the first lock is granted, and with
// false when the last has ended. The last call before a loss of the connection counts. A hurry
// lasts until the lease of the connection has ended.
//
// In a hurry
//
//   - pauses between rounds begin at 10 ms and grow to a hundredth of the session timeout, jittered by half, in place of
//     [WithReconnectBackoff]'s;
//   - a server that does not answer does not use the lease up: attempts to dial overlap. Where
//     there is another server, one has half of what is left of the lease to answer the connect
//     request;
//   - a name that cannot be resolved in time is taken to mean what it meant last.
//
// Cost: a client that cannot connect makes 100 rounds in a session timeout: 25 a second for 4 s, 10
// for 10 s, 3 for 30 s. A lease at a steady rate lasts 0.4 of the timeout, which makes some 45
// rounds, whatever the timeout is. One of a new connection lasts 0.9, which makes up to 95. A
// credential that was refused ends the hurry until a connection has been of use.
func (c *Conn) Hurry(urgent bool) {
	if urgent {
		c.hosts.haste.set(c.lease.clock.Deadline)
	} else {
		c.hosts.haste.set(nil)
	}
}
