// Package guides has no code. It is for those who use locks, run them, or are called at night because of one:
//
//   - Fencing: what a lock cannot do for you
//   - A session on each node, or a gateway
//   - Moving from Curator, zk.Lock or etcd
//   - Running against a production ensemble
//   - Ensembles with Kerberos or DIGEST-MD5
//   - When a lock is stuck
//   - Choosing a session timeout
//   - What services do with locks
//
// Each is a file of this folder, so that it can be read where it lies; its Examples run with the tests. They are a
// package of their own, below locks, because "go doc locks" is a reference, and because a guide is found by those who
// do not know yet which type it is about.
package guides
