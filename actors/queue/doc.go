// Package queue reads the children of a lock path: who contends, in what order, who waits for whom,
// and who waits for ever. It is pure: it takes names, and knows no connection, clock or goroutine.
//
// # Names
//
// The name of a contender node ends with the sequence number that the server gave it; what comes
// before says which kind of lock is asked for. [Style.Prefix] writes names, [Parse] reads those of
// every library that it knows: Curator, go-zookeeper, kazoo, the recipes of ZooKeeper's
// documentation, and our own. Every other child is passed over. [NameOfKey] makes names of lock
// paths that none of these is.
//
// # Order
//
// A lock path has one queue, or several that are told apart by name and have nothing to do with
// each other. A contender comes before those of its queue with greater sequence numbers. Two with
// the same number do not wait for each other: a writer that takes the read lock as well takes it at
// its own number.
//
// # Who waits for whom
//
// The rule stands in one place, sum.keepOut, and the others ask it:
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
