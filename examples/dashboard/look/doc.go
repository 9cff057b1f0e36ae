// Package look looks at the locks below a root through a Turnstile client, again and again, and tells a board
// what it sees. It writes nothing to any lock.
//
// It reads the tree in the given period. It follows the queues of a bounded number of its locks,
// those with an open page first. To follow a queue takes a read of each of its contenders whenever
// somebody comes or goes. A busy queue cannot bear that. So a queue that changes often, or is long,
// is read at a pace instead, until it is calm. See pace.
//
// Of requests without a node it sees only those of its own client's session, which asks no server for them.
package look
