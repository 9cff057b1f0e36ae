// # How services use locks
//
// Programs, each with the few lines that deal with locking. They run as Examples of this package
// (locks/guides/example_services_test.go). Five of them are whole in examples/services: a cron
// worker with several replicas, an HTTP handler, a leader loop, a pool of workers, and an actor
// with a supervisor. None has more than ten such lines, which a test counts. The example of the
// actor that exists once is one of package actors.
//
// # A request that must be alone
//
// An HTTP handler changes an order. Do waits for the lock for as long as the request lasts, and the
// handler's work ends with the request and with the lease. A deadline of the ctx that Do gets is
// for both: the wait and the work.
//
//	err := locks.Do(r.Context(), client.Mutex("/orders/"+id), func(ctx context.Context, token locks.Token) error {
//		return store.Pay(ctx, id, token)
//	})
//
// The handler's answers, in this order:
//
//	err == nil                          200
//	r.Context().Err() != nil            503, though nobody may read it: the client has gone
//	locks.MayPass(err)                  503, try again; the store may have been written to all the same
//	errors.Is(err, locks.ErrClosed)     503: this process is ending, another answers
//	errors.Is(err, locks.ErrBadPath)    400: the id makes no lock path, such as "" or ".."
//	any other                           500, your own errors among them
//
// Ask the request's context whether the client has gone, and not the error. A lease that is lost
// ends the work's ctx too, and the work returns context.Canceled. The error of Do hides that from
// errors.Is while the caller's ctx lives. Always answer something: a handler that returns without
// is a 200.
//
// Look at your own errors first. One that the lease's loss has come beside wraps both, and MayPass
// is true for it.
//
// # Busy, or out of reach
//
// To bound the wait alone, lock first. The lease's context has no deadline of the ctx that waited.
// The last steps of Do are then yours. Work whose lease is over has failed, whatever it
// returns, and the cause of the lease's context says why:
//
//	waiting, cancel := context.WithTimeout(r.Context(), 2*time.Second)
//	defer cancel()
//	lease, err := client.Mutex("/orders/" + id).Lock(waiting)
//	if err == nil {
//		defer lease.Release()
//		err = store.Pay(lease.Context(), id, lease.Token())
//		if !lease.Valid() {
//			<-lease.Context().Done() // at once
//			err = fmt.Errorf("%w: %w", context.Cause(lease.Context()), err)
//		}
//	}
//
// A wait that has run out is 409 where somebody has the order, and 503 where no server was there to
// ask. Error.Behind has whom the request waited for. Put these lines in front of MayPass:
//
//	var e *locks.Error
//	errors.Is(err, locks.ErrNotAcquired)                                      409, after locks.Try
//	client.Ready() == nil && errors.As(err, &e) && e.Behind.Node != ""       409, e.Behind says who has it
//
// Over a gateway leave Ready out, which needs a session. There Behind alone decides: the gateway says
// nobody once its servers have been silent for a fifth of its session timeout, and a request that
// no gateway answers knows nobody.
//
//	errors.As(err, &e) && e.Behind.Node != ""                                409, over a gateway
//
// A gateway that falls silent while a request waits is noticed after one and a half session
// timeouts. A shorter wait that was behind somebody is 409 until then.
//
// # A job that one of several replicas runs
//
// Each replica wakes up by its own schedule and clock. A lock alone does not help: where the job is
// fast, the next replica finds it free again. RunOnceFor runs the job once for each instant of the
// schedule. The instant is the time on the schedule, such as 02:00, and the same on all replicas. Never
// give it time.Now().
//
//	once, err := locks.RunOnceFor(ctx, client, "/jobs/nightly", at, nightly, locks.WithStartDeadline(time.Hour))
//	log.Printf("%s: %s", once.Outcome, once.Mark) // already ran: done at ..., for ..., by process 4711 on web2
//
// Most replicas come while the job runs: OnceBusy. Once.Holder names the replica that runs it,
// because the mark may not be written yet. Where nobody runs the job for an instant, the error
// wraps ErrNotRun, so no night is missed silently. The rest is the caller's decision. Beside it are
// the words of Kubernetes' CronJob and Temporal's schedules:
//
//	a run that failed or died     it stays the only one; WithRetryAfter: again     backoffLimit
//	a late one                    it runs; WithStartDeadline: not after that       startingDeadlineSeconds
//	the one before still runs     ErrNotRun, OnceBusy                              Forbid, skip
//	                              WithWaiting: behind it                           buffer one
//	                              WithGrace and Client.Revoke: in its place        Replace, terminate other
//	                              a key for each instant: beside it                Allow
//	instants that were missed     left out; WithCatchUp: the last n, or all        catch-up window
//	an older one than the newest  ErrNotRun, OnceSuperseded                        -
//
// To run a night again by hand, name its instant, with WithRetryAfter(0). That moves nothing of the
// schedule. Work with WithCatchUp asks InstantOf(ctx) which instant it is called for. A job that is
// a command is exec.CommandContext with the ctx of the work, so that it ends with the lock. It does
// not end with a process that is killed, and zklock run sees to that, too.
//
// RunOnce is for jobs that have no schedule: "at most every 23 hours". The period is counted by the
// servers' clock, from the beginning of the last run. The mark is written when the job has returned
// nil, so that a job that fails, or whose replica dies, is run by the next that comes. With
// WithMarkFirst it is at most once.
//
// AckWith writes the job's result together with the mark. After ErrUnknownOutcome the job is done
// and the mark may be missing.
//
// Programs with gocron import its Locker or Elector: locks/adapters/gocron. For robfig/cron and
// asynq there are programs to copy from: examples/scheduler/robfig and examples/scheduler/asynq. A
// crontab takes zklock run --for, or --at-most-every.
//
// # A leader
//
// Run campaigns, leads, and campaigns again when the lead was lost. The function ends when its ctx
// does, and nobody else leads before it has returned. Use Health for the liveness probe: a leader
// that does not react to the loss of its lead should be restarted. Use Ready for the readiness
// probe.
//
//	err := election.Run(ctx, address, func(ctx context.Context, term *locks.Leadership) error { return reconcile(ctx, term.Token()) })
//
// WithPriority prefers some places to others. Where an error of yours may pass, wrap ErrAgain in
// it: Run then campaigns again, after a pause. Any other ends it.
//
// # An actor that exists once
//
// In a program of protoactor's the same is an actor. Every node spawns a singleton; the one that
// holds the lock runs your actor as its child, and forwards messages to it. The first message is an
// actors.Activation: give its Context to all that takes long, and its Token to all that is written.
//
//	props := actor.PropsFromProducer(newBilling)
//	pid := system.Root.Spawn(actors.NewSingleton(session, messages.Acquire{Path: "/singletons/billing"}, props))
//
// The lock is given back when the actor has ended, and not before. After a loss another node may
// run it at once; by then the context has ended and Activation.Valid is false. So an actor that is
// slow to stop, and does not look at either, works beside its successor: fencing tokens are for
// that. An actor that fails again and again moves to another node (actors.WithFailures). Messages
// to a node where it does not run are dead letters, or are kept for a while (actors.WithBuffer).
// Nodes without a session use gateway.NewSingleton.
//
// # A pool with a limit
//
// No more than three workers at a time, in all processes together, use the printer:
// Semaphore.Weight is a Locker.
//
//	err := locks.Do(ctx, client.Semaphore("/printer", 3).Weight(1), print)
//
// Group tells who is in the pool.
//
// # An actor that a supervisor starts again
//
// An actor spawns its lock actor as its child, works when it is told Held, and sends Release. When
// it panics its children stop, and with them the hold; the next one of it asks anew, with a greater
// token. The guide "Supervision of actors" has the other directives.
//
//	case *actor.Started:
//		w.lock = ctx.Spawn(actors.NewLock(w.Session, messages.Acquire{Path: w.Path}))
//	case *messages.Held:
//		w.Work(msg.Token)
//		ctx.Send(w.lock, &messages.Release{})
//
// # Work that must not be written twice
//
// A position in a stream, the state of a job: data in ZooKeeper itself are written under the lock,
// or not at all. Lease.Get reads the writes of all holders before.
//
//	lease := locks.LeaseOf(ctx)
//	data, version, err := lease.Get(ctx, "/position")
//	_, err = lease.Txn(ctx, locks.Set("/position", next(data), version))
//
// After ErrUnknownOutcome read it again with Get: the version says whether it was written. The
// first holder finds zkconn.ErrNoNode and creates it; with the Op's field Parents, the nodes above it
// too.
//
// A program that keeps its data over a ZooKeeper client of its own has neither. Its session may see
// less than Turnstile's, and outlive it. Move those reads and writes to Get and Txn. Or write the
// token beside the data, in one transaction, and refuse smaller ones: "Fencing", which is also
// about data that are not in ZooKeeper.
//
// # A restart that keeps the lock
//
// A process that is started again within a session timeout of its crash goes on where the one
// before stopped. With a session file and a label it holds at once, and no waiter has held in
// between. Its token is greater.
//
//	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
//	defer cancel()
//	client, err := locks.Open(opening, servers, locks.WithSessionFile("/var/lib/indexer/session"))
//	lease, err := client.Mutex("/index", locks.WithReclaim("indexer")).Lock(ctx)
//
// The data of unfinished work are as the crash has left them: read them under the lock (Lease.Get), as
// any holder does. A process that crashes each time at the same place keeps the others out for as long
// as that goes on.
//
// # What to set
//
//   - WithMaxHold, where work may hang: twice what it takes on a bad day.
//   - WithOnChange, where the work can prepare for the end of the lease, or people want a log of
//     it.
//   - A context with a deadline for Lock, so that waiters give up and say behind whom they waited.
//   - A label, so that people see who holds.
//   - WithLogger: without it nothing is logged of outages, or of locks that are lost.
package guides
