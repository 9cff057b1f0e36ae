// Package crowd shows that one process with very many waiters, or very many locks, does an ensemble
// no harm when its session ends.
//
// The servers delete all ephemeral nodes of a session in one transaction, which names each. One
// that is larger than jute.maxbuffer brings an ensemble down, and keeps it down (ZOOKEEPER-4306). So
// Turnstile bounds what a session's nodes weigh: see actors.WithMaxNodeBytes and
// actors.WithMaxWaiting.
//
// A process of its own asks for the locks. It is closed, killed, or stopped until its session has
// expired. Then the ensemble must go on: the one behind the crowd is granted its lock, each member
// forgets the nodes, another client locks, and each member starts again. TestWithoutBounds shows that
// the same crowd brings an ensemble down where the bounds are lifted. TestDrain has several processes
// wait for one lock, which each of their goroutines gets.
//
// `make test-all` has crowds of 1250 and 2000, and servers with an eighth of the usual jute.maxbuffer.
// TURNSTILE_CROWD=100000 go test -timeout 60m -run TestEnsembleLives ./tests/crowd has 100 000
// goroutines for one lock, and 20 000 for a lock each. Its servers have ZooKeeper's usual
// jute.maxbuffer, heap and tick. Do not run TestWithoutBounds with such crowds. Their end is a
// transaction of 16 MB, and a server that is killed while it writes one may never start again (CRC
// check failed).
package crowd
