package main

import (
	"context"
	"log"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/turnstile-locks/turnstile/locks"
)

// Once is a cron.JobWrapper. Of all processes that have the job in their schedules, one runs it for each instant: the
// others find its mark, however fast the job was. instant gives what the job is run for.
func Once(ctx context.Context, client *locks.Client, path string, instant func() time.Time) cron.JobWrapper {
	return func(job cron.Job) cron.Job {
		return cron.FuncJob(func() {
			once, err := locks.RunOnceFor(ctx, client, path, instant(), func(context.Context, locks.Token) error {
				job.Run()
				return nil
			})
			if err != nil || once.Outcome != locks.OnceRan {
				log.Print(path, ": ", once.Outcome, " ", once.Mark, " ", err)
			}
		})
	}
}

// Add adds a job that runs once for each instant of its schedule. Its name is its key.
func Add(
	ctx context.Context, c *cron.Cron, client *locks.Client, spec, name string, work func(instant time.Time),
) (cron.EntryID, error) {
	var id cron.EntryID
	added := make(chan struct{})
	instant := func() time.Time {
		<-added
		return c.Entry(id).Prev // the schedule's own, when the job has begun; not the time that it is
	}
	chain := cron.NewChain(Once(ctx, client, client.Keyed("/jobs").Path(name), instant))
	id, err := c.AddJob(spec, chain.Then(cron.FuncJob(func() { work(instant()) })))
	close(added)
	return id, err
}
