// Package scene plays scenes: text files in which clients and strangers meet at lock paths, with what came of it below.
// Each scene is played in virtual time, and on every kind of server that there is; its outcome is the same everywhere.
//
// A file has blocks (github.com/cockroachdb/datadriven). The block "scene NAME" begins a scene, with a lock path's tree of
// its own; "then" goes on with it. The lines of a block are steps. Below ---- stands what each call was told since the
// block before, in the order of the calls, and then the answers to the block's questions. After the last block all that
// hold give back and all that wait give up. While a scene is played,
//   - the leases that are valid at a time may be so by the rules of their kinds;
//   - each grant has a greater token than all that were granted in the steps before, but for those of the same owner;
//   - what the queue says of a call's node is what the call knows;
//   - no waiter finds by a look what an event should have told it (package relists);
//   - no node, watch or goroutine is left.
//
// go test -rewrite writes the outcomes anew. The words of a scene, where ... are options:
//
//	with V=x|y ...              plays the scene once for each, at the same time; $V stands for it, with + for blanks.
//	                            $face is how clients ask: locks, gateway (locks, over one), or actors.
//	with virtual, with servers  only in virtual time, or only on servers with a network
//	open C ...                  opens a client, with waiting=N bytes=N auth=NAME acl=NAME|read at=PATH. Others open as they come.
//	lock L C PATH KIND ...      client C asks for a lock: L. KIND is exclusive, read, write, semaphore, contest, key or byname, which
//	                            names the key behind it. name= label= cohort=N sticky=D reentry grace=D hold=D naming=N watchall
//	                            max=N permits=N weight=N, within=L for the context of L, and unseen for no listener
//	try L C PATH KIND ...       the same, with TryLock
//	back L ..., leave L ...     Unlock; the context of the call ends
//	down L W                    L is W's downgrade
//	revoke C PATH, break C L, permits C PATH N, close C
//	expire C, cut C, join C     its session, or its connection
//	fault C OP ACTION [COUNT]   what the next request of a kind meets: lost (its reply), cut (the request), held; release C
//	fired C                     waits until it has met it
//	delete L, write L TEXT, set PATH TEXT, plant PATH TEXT, node PREFIX TEXT, shut PATH, remove PATH
//	                            what a stranger does, node by an ephemeral sequential node
//	zk L PATH                   go-zookeeper's own lock; back L unlocks it
//	wait D                      in virtual time
//	queue C PATH, locks C PATH, inside C PATH, missing C PATH, nodes PATH, data PATH   questions
//
// A step ends when what it asked for has been told, or waits; a step with & behind it does not wait.
package scene
