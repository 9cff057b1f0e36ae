// Package interop runs the lock recipes of other ZooKeeper clients, and judges
// whether they keep each other out.
//
// A [Worker] is a process of another client: [StartCurator] for Curator 5.4.0 in
// Java, [StartKazoo] for kazoo 2.8.0 in Python. Both understand the same [Job]:
// a recipe, a path, sessions, threads, rounds, how long to hold. A worker does
// many jobs, also several at a time, so one JVM serves a whole package of tests.
//
// A [Witness] belongs to the Go side. Every thread of every worker tells it when
// it is inside and when it leaves, and goes on only once it has the answer; so
// exclusion is judged over all processes at once, by none of those under test.
// Go code that holds a lock of its own calls [Witness.Enter] directly.
//
//	witness := interop.StartWitness(t)
//	curator := interop.StartCurator(t)
//	summary, err := curator.Run(ctx, interop.Job{
//		Name: "curator", Connect: addr, Recipe: interop.Mutex, Path: "/orders/42",
//		Sessions: 3, Threads: 2, Rounds: 10, Witness: witness.Addr(),
//	})
//
// [Witness.Detain] keeps a holder inside until the test lets it go, which is how
// a test puts others in the queue behind it without any sleeping.
//
// The clients come from Debian's packages, nothing from the network: install.sh
// beside this file installs them. A test that calls [Require] is skipped where
// they are missing, unless TURNSTILE_REQUIRE_SERVERS=1 says that this is a
// failure.
package interop
