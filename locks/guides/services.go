// # What services do with locks
//
// Six programs, each with the few lines that deal with locking. They run as Examples of this package, that of the actor
// as one of package actors
// (locks/guides/example_services_test.go).
//
// # A request that must be alone
//
// An HTTP handler changes an order. Do waits for the lock for as long as the request lasts, and the handler's work ends
// with the request and with the lease. Give Lock a bound where a client should rather hear that somebody else is at it.
//
//	err := locks.Do(r.Context(), client.Mutex("/orders/"+id), func(ctx context.Context, token locks.Token) error {
//		return store.Pay(ctx, id, token)
//	})
//
// MayPass tells an answer of 503, try again, from one of 500.
//
// # A job that one of several replicas runs
//
// Each replica wakes up at the same time, and tries. Those that find the lock taken have nothing to do. Clocks differ, so
// that one may come when another has finished: keep what was done under the lock, with Lease.Txn, and look at that first.
//
//	err := locks.Do(ctx, locks.Try(client.Mutex("/jobs/nightly")), nightly)
//	if errors.Is(err, locks.ErrNotAcquired) { ... }
//
// # A leader
//
// Run campaigns, leads, and campaigns again when the lead was lost. The function ends when its ctx does, and nobody else
// leads before it has returned. Health goes into the liveness probe: a leader that does not hear that it was deposed is
// better restarted. Ready goes into the readiness probe.
//
//	err := election.Run(ctx, address, func(ctx context.Context, term *locks.Leadership) error { return reconcile(ctx, term.Token()) })
//
// WithPriority prefers some places to others. Where an error of yours may pass, wrap ErrAgain in it: Run then campaigns
// again, after a pause. Any other ends it.
//
// # An actor that exists once
//
// In a program of protoactor's the same is an actor. Every node spawns a singleton; the one that holds
// the lock runs your actor as its child, and forwards messages to it. The first message is an
// actors.Activation: give its Context to whatever takes long, and its Token to whatever is written.
//
//	props := actor.PropsFromProducer(newBilling)
//	pid := system.Root.Spawn(actors.NewSingleton(session, messages.Acquire{Path: "/singletons/billing"}, props))
//
// The lock is given back when the actor has ended, and not before. After a loss another node may run
// it at once; by then the context has ended and Activation.Valid is false. So an actor that is slow to
// stop, and does not look at either, works beside its successor: fencing tokens are for that. An actor
// that fails again and again moves to another node (actors.WithFailures). Messages to a node where it
// does not run are dead letters, or are kept for a while (actors.WithBuffer). Nodes without a session
// use gateway.NewSingleton.
//
// # A pool with a limit
//
// No more than three at a time, in all processes together, use the printer: Semaphore.Weight is a Locker.
//
//	err := locks.Do(ctx, client.Semaphore("/printer", 3).Weight(1), print)
//
// Group tells who is in the pool.
//
// # Work that must not be written twice
//
// A position in a stream, the state of a job: what is in ZooKeeper itself is written under the lock, or not at all.
//
//	_, err := locks.LeaseOf(ctx).Txn(ctx, locks.Set("/position", next, version))
//
// After ErrUnknownOutcome read it, under the lock: the version says whether it was written. See "Fencing" for what is not
// in ZooKeeper.
//
// # What to set
//
//   - WithMaxHold, where work may hang: twice what it takes on a bad day.
//   - WithOnChange, where the work can prepare for the end of the lease, or somebody wants to read of it.
//   - A context with a deadline for Lock, so that waiters give up and say behind whom they waited.
//   - A label, so that people see who holds.
package guides
