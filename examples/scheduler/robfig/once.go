package main

import (
	"context"
	"log"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/turnstile-locks/turnstile/locks"
)

// Job is a cron.Job that is given a context, which ends with Once's ctx, and when the lock is lost.
// locks.InstantOf tells which instant it is run for.
type Job func(ctx context.Context)

// Run is for schedules without Once: the context never ends, and has no instant.
func (j Job) Run() { j(context.Background()) }

// Once is a cron.JobWrapper. Of all processes that have the job in their schedules, one runs it for
// each instant: the others find its mark, however fast the job was. instant gives what the job is
// run for. A Job is given its context. So let Once be the last wrapper of a chain, the innermost.
func Once(ctx context.Context, client *locks.Client, path string, instant func() time.Time) cron.JobWrapper {
	return func(job cron.Job) cron.Job {
		return cron.FuncJob(func() {
			once, err := locks.RunOnceFor(ctx, client, path, instant(), func(ctx context.Context, _ locks.Token) error {
				if work, told := job.(Job); told {
					work(ctx)
				} else {
					job.Run()
				}
				return nil
			})
			switch {
			case err != nil:
				log.Printf("%s: %s: %v", path, once.Outcome, err)
			case once.Outcome == locks.OnceAlreadyRan:
				log.Printf("%s: %s: %s", path, once.Outcome, once.Mark)
			}
		})
	}
}

// Add adds a job that runs once for each instant of its schedule. Its name is its key.
func Add(
	ctx context.Context, c *cron.Cron, client *locks.Client, spec, name string, work Job,
) (cron.EntryID, error) {
	var id cron.EntryID
	added := make(chan struct{})
	instant := func() time.Time {
		<-added
		return c.Entry(id).Prev // the schedule's own, when the job has begun; not the time that it is
	}
	chain := cron.NewChain(Once(ctx, client, client.Keyed("/jobs").Path(name), instant))
	id, err := c.AddJob(spec, chain.Then(work))
	close(added)
	return id, err
}
