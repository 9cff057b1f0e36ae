// Package conformance holds the embedded server to what a real one answers. That is a 3.9.5, also
// where TURNSTILE_ZOOKEEPER names another version for the other suites.
//
// The files of testdata have operations with the answers of a real server. Both are held to them: the
// embedded one by the subtests embedded, a real one by the subtests real. With the flag -rewrite, real
// answers are recorded anew.
//
// TestRealDifferential sends the same operations to both, and compares everything that they answer.
//
// The operations are drawn at random, or written by hand where something is to be pinned down. They
// are carried out one at a time, by several sessions, under a root of the sequence's own. After
// each one that is not a mere read, every session that watches something sends a ping and reads up
// to its reply. So every watch event is known to belong to the operation before it. Some operations
// are bursts of several requests that are sent before anything is read.
//
// TURNSTILE_CONFORMANCE_OPERATIONS says how many operations TestRealDifferential compares. On a
// difference it prints a short sequence that shows one, as the files of testdata have them.
//
// The client's side of the protocol is written here once more, apart from the server's and from any
// library's, so that a mistake in one of them shows.
//
// # What is compared
//
// Of every reply: the error, the transaction id, every field of the body, and that nothing follows
// it. Of every event: which session got it, its transaction id, type, state and path, and its place
// among the events and replies of that session. Of every connection: what the handshake answered, and whether
// the server hung up. At the end of a sequence: the data, the access list and the children of every
// node.
//
// # What is masked
//
//   - Transaction ids are counted from the one that created the root, since the servers have not done
//     the same before. Everything else may not differ: what takes an id and what does not shows.
//   - The node "/" is shared with all sequences, so its versions and its children are counted from
//     what they were.
//   - Times differ. That they are of today and in milliseconds, and that a node never changed has
//     one time, is checked instead.
//   - Session ids become the numbers of the sessions; passwords are told apart, not shown.
//   - Lists of children and of ephemeral nodes are sorted: a real server gives them in the order of
//     a hash table. The events that a session's end caused to one session are sorted too, since its
//     nodes are deleted in such an order. So are entries of the scheme digest side by side in an
//     access list, since the scheme auth expands in such an order.
package conformance
