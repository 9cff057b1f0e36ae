package services

import (
	"context"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

// Cron is what each replica of a cron worker calls when its scheduler wakes it up for an instant, such as two o'clock: one
// of them runs the job for it, however fast the job is and whenever the others wake up. It says whether the job was run
// here. The error says so, too, where nobody runs it: because it has become too late, or an earlier run is still going.
func Cron(ctx context.Context, servers string, at time.Time, job func(ctx context.Context) error) (ran bool, err error) {
	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	client, err := locks.Open(opening, servers)
	if err != nil {
		return false, err
	}
	defer client.Close(context.WithoutCancel(ctx))
	once, err := locks.RunOnceFor(ctx, client, "/jobs/nightly", at, func(ctx context.Context, _ locks.Token) error {
		return job(ctx)
	}, locks.WithStartDeadline(time.Hour))
	return once.Outcome == locks.OnceRan, err
}
