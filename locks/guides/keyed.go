// # Locks by key
//
// Most services lock by a string: an order, a tenant, a host name, a file. Client.Keyed has a lock
// for each.
//
//	orders := client.Keyed("/orders", locks.WithLabel(host))
//	lease, err := orders.Lock(ctx, id)                  // or TryLock, which does not wait
//	err := locks.Do(ctx, orders.Mutex(id), work)        // the whole of it
//
// Any string is a key, and different keys never share a lock. `zklock tree /orders` shows the keys
// as they are, with escapes as in URLs for characters that a path cannot have. Keys of more than 128 bytes are
// cut, and end with their SHA-256. The doc of Keyed has the rules; Keyed.Path gives the lock path,
// for zklock and for Client.Queue.
//
// Nothing has to be deleted. The servers remove the lock path of a key that nobody wants any more,
// a minute or so later. The weight of a session bounds the keys that are held at the same time:
// some 2 400 of the longest keys, or twice as many short ones (WithMaxNodeBytes).
//
// # Libraries that bring an interface
//
// Many libraries ask for a Locker with a name and without a lease. Keyed.ByName is that.
//
//	certmagic     Locker, TryLocker: client.Keyed("/certificates").ByName() has their methods; put it into your Storage
//	goose         WithLocker(locks.OneKey[*sql.DB]{Locks: client.Keyed("/migrations").ByName(), Key: "billing"})
//	              WithSessionLocker(locks.OneKey[*sql.Conn]{...}) likewise
//	gocron        locks/adapters/gocron, a module of its own: it leaves marks besides, so that a fast job runs once
//	your own      Lock(ctx, key) error, TryLock(ctx, key) (bool, error), Unlock(ctx, key) error
//	              Lock(ctx, key) (unlock func(), err error): Keyed.Lock, and the lease's Release as unlock
//
// The tests in tests/adapters run these libraries with it: three processes that want one
// certificate, or migrate one database.
//
// # When the lock is lost and nobody has the lease
//
// A caller that locks by name does not hear that the lock is lost. It works on, while another
// process may have the lock. That is so with every Locker of this shape, whatever it locks with.
// Three things help:
//
//   - WithOnLost is called with the key and the cause, at once. End the process there, or cancel
//     the work of that key. A process that was paused may have given the lock back before it heard:
//     then it is called after that, also after a Release.
//   - Named.Unlock returns an error that wraps ErrLost. The work is done by then, so it is for the
//     log and for counting.
//   - Named.Lease gives the lease of a key while it is held: its Context ends with the lock, and
//     its Token fences.
//
// A process that cannot stop what it does ends itself:
//
//	names := client.Keyed("/certificates", locks.WithOnLost(func(key string, err error) {
//		log.Fatalf("the lock of %s: %v", key, err)
//	})).ByName()
//
// Ask what the library does beside its lock. certmagic looks into the store before it obtains a
// certificate, so that a loss costs one certificate too many. goose writes the versions of
// migrations into the same database, but a migration outside a transaction may run twice. Work that
// must not happen twice needs a token that the resource compares: see the guide "Fencing".
//
// # What is defined
//
//	Unlock of a key that is not held here      ErrNotHeld, and nothing happens
//	Unlock of a key that was lost meanwhile    ErrLost, and the key is free here again
//	Unlock by another goroutine                as by the one that locked
//	Unlock with a ctx that has ended           gives back, and does not wait for the servers
//	Lock of a key that this process has        waits for its Unlock, in the order of the calls; also when it is lost
//	Lock twice without an Unlock               waits for itself, until ctx ends: there is no reentry by name
//	TryLock of a key that this process has     false
//	Close of the client                        ends the waiters, with ErrClosed; what was held is lost
//
// Calls of one process for one key queue in the process, and one at a time queues at the servers.
// So a process has its turn after each hold of another, and not after all that wait there. Leases
// of Keyed.Lock have a node each, and queue in the order of all calls of all processes.
package guides
