// Package queue reads the children of a lock path: who contends, in what order, who waits for whom,
// and who waits for ever. It is pure.
//
// # Names
//
// The name of a contender node tells the kind of lock, and ends with the server's sequence number.
// [Style.Prefix] writes names, [Parse] reads those of Curator, go-zookeeper, kazoo, the recipes of
// ZooKeeper's documentation, and our own. Other children are passed over. [NameOfKey] makes names
// of lock paths that are none of these.
//
// # Order
//
// A lock path has one queue, or several independent ones with names. The contenders of a queue are
// ordered by sequence number. Two with one number do not wait for each other: a writer takes the
// read lock as well at its own number.
//
// # Who waits for whom
//
// sum.keepOut has the rule:
//
//   - an exclusive lock and a writer wait for every earlier contender;
//   - a reader waits for the earlier contenders that are no readers;
//   - a semaphore's contender waits while all earlier ones and itself need more permits than there
//     are. So the holders are always the first of the queue, and nobody overtakes.
//
// # How to use it
//
// A session lists a lock path once for all of its contenders: [NewListing], and [Listing.Find] for
// each. For a view from outside use [Standings]: all contenders, and whom each waits for. From the
// owners in their nodes [Deadlocks] finds contenders that wait for each other.
package queue
