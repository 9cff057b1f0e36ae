// # Testing programs with locks
//
// Test against the embedded server. It speaks ZooKeeper's protocol in your process, starts in a
// millisecond, and needs neither Java nor a port that is free by luck.
//
//	server := embedded.Run(t) // closed with the test
//	opening, cancel := context.WithTimeout(t.Context(), time.Minute)
//	defer cancel()
//	client, err := locks.Open(opening, server.Addr())
//
// # Faults on demand
//
//	server.Expire(sessionID)        // the servers end the session: leases end with ErrLost
//	server.Inject(embedded.Fault{…}) // replies are lost, delayed or refused, for operations that you choose
//	server.Replica(2).CutOff()      // with embedded.WithReplicas(3): a member that hears nothing of the others
//
// # In a bubble
//
// In a testing/synctest bubble time moves only when every goroutine waits. A test may then sleep
// for hours of leases, session timeouts and backoff in a few milliseconds, and always with the same
// outcome:
//
//	synctest.Test(t, func(t *testing.T) {
//		server := embedded.Run(t, embedded.WithoutNetwork(), embedded.WithTick(time.Second))
//		opening, cancel := context.WithTimeout(t.Context(), time.Minute)
//		defer cancel()
//		client, err := locks.Open(opening, server.Connect(), locks.WithDialer(server.DialContext))
//		…
//		time.Sleep(4 * time.Hour) // of the bubble's clock
//	})
//
// A bubble knows no network, so the server has none, and the client dials it in memory. Close the
// client before the bubble ends: a bubble waits for all of its goroutines. Give everything that
// waits a deadline, which costs nothing in a bubble. Without one, a test that waits for an event that
// never comes runs on through years of heartbeats.
//
// # Actors
//
// Package actorstest follows a lock actor. Await returns when it is in a state, and Match compares
// the states that it went through with a pattern. Neither sleeps:
//
//	recorder := actorstest.NewRecorder(system)
//	defer recorder.Close()
//	system.Root.Spawn(actors.NewLock(session, acquire, actors.WithObserver(recorder.PID())))
//	held, err := recorder.Await(ctx, messages.StateHeld)
//
// The session and the system are client.Session() and client.System(), which Close ends. A lock
// actor that your actor spawns as its child needs WithObserver(pid) too: let your actor take
// options for it. Notices and transitions are different messages, so a Released may come before the
// last transition. Await(ctx, messages.StateReleased) before you compare States. An actor that is
// stopped, and not released, may end without a last state: then Await waits for its ctx.
//
// A waiter lists its queue now and then, so a long wait is watching and listing many times: compare
// with actorstest.Whatever there.
//
// # What to test
//
//   - That the work stops when the lease ends: expire the session in the middle of it.
//   - That a write with an old token is refused by your store.
//   - That the program ends in order: end its ctx while it holds, and see that the next one is
//     granted.
//
// The tests of this package (locks/guides/testing_test.go) do the first and the last in a bubble.
//
// Do not test that two do not hold at once. Turnstile's own suites do that, under faults that a
// unit test does not have.
package guides
