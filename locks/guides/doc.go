// Package guides has no code. It is for people who use locks, run them, or are called at night
// because of one:
//
//   - Fencing: what a lock cannot do for you
//   - A session on each node, or a gateway
//   - Locks by key
//   - Moving from Curator, zk.Lock or etcd
//   - Running against a production ensemble
//   - Ensembles with Kerberos or DIGEST-MD5
//   - When a lock is stuck
//   - Choosing a session timeout
//   - How services use locks
//   - SIGTERM and Kubernetes
//   - Supervision of actors
//   - Testing programs with locks
//
// Each is a file of this folder, so it can be read there; its Examples run with the tests. The
// guides are a package of their own, below locks, because "go doc locks" is a reference. Readers of
// a guide do not know yet which type it is about.
package guides
