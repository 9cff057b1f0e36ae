package services

import (
	"context"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

// Cron is for the replicas of a cron worker. Each calls it when its scheduler wakes it up for an
// instant, such as two o'clock. One of them runs the job for that instant, however fast the job is
// and whenever the others wake up. Where one has died with the lock the others wait until it is
// free. ran says whether the job was run here, for that instant. The error says where nobody runs
// it, because it is too late, an earlier run is still going, or the lock is taken otherwise.
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
