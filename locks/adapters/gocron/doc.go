// Package gocronlocks runs the jobs of gocron (github.com/go-co-op/gocron/v2) once, where several
// replicas have them in their schedules. Locker is gocron's Locker, and Elector its Elector.
//
//	locker := &gocronlocks.Locker{Client: client, Root: "/jobs"}
//	scheduler, err := gocron.NewScheduler(gocron.WithDistributedLocker(locker))
//	locker.Follow(scheduler)
//	_, err = scheduler.NewJob(gocron.CronJob("0 2 * * *", false), gocron.NewTask(nightly), gocron.WithName("nightly"))
//	scheduler.Start()
//
// It is a module of its own, so that Turnstile does not depend on gocron. Its tags are the folder
// and the version. They follow the tag of Turnstile, once go.mod names that version:
// .github/release.sh has the steps. In the repository go.mod replaces Turnstile by the checkout.
//
// # A fast job runs on every replica
//
// That is the usual complaint about Lockers that only lock. Replicas wake up some milliseconds
// after one another. A job that takes less time than that has given its lock back when the next
// replica comes. Locker leaves a mark:
//
//   - Cron, daily, weekly, monthly and dated one-time jobs run once for each instant of their
//     schedule. All replicas name the same instant, whatever their clocks show, so the job runs
//     once for it. Replicas need the same time zone.
//   - Duration jobs have no instants in common: each replica counts from its own start. They run
//     once in nine tenths of their duration, by the clock of the ZooKeeper servers. So do random
//     ones, by the shortest.
//   - A one-time job that starts at once is refused, because every replica would be right to run
//     it.
//   - RunNow of a job with instants is refused, unless one is due: a run that counts for no instant
//     cannot be told from one that gocron begins late. To run a job by hand, call it under the same
//     lock: locks.Do(ctx, locks.Try(client.Keyed("/jobs").Mutex("nightly")), nightly). That moves
//     nothing of the schedule.
//
// A run that overlaps the next tick keeps that tick from running, on all replicas: one run at a
// time. The job's name is the key of its lock, so all replicas must call it the same: use
// gocron.WithName. Jobs of one process need names of their own.
//
// # What gocron does not tell
//
//   - Whether the job has failed. It counts as done for its instant. Let a job that must succeed
//     try again by itself.
//   - That the lock is lost: the job's context does not end. Locker.Lost is called, and Run.Token
//     is for the resource.
//
// # Locker or Elector
//
// With a Locker the replica that comes first does the run. With an Elector one replica, the leader,
// runs all jobs. gocron asks an Elector only whether it leads, and not for which tick. So the last
// tick of one leader may be the first of the next, where their clocks differ. gocron asks no Locker
// where there is an Elector. Take the Locker, unless jobs need what the leader alone has in memory.
package gocronlocks
