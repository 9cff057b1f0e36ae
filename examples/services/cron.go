package services

import (
	"context"
	"errors"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

// Cron is what each replica of a cron worker calls when it wakes up: one of them runs the job, and the others, which
// wake up at the same time, have nothing to do. It says whether the job was run here.
func Cron(ctx context.Context, servers string, job func(ctx context.Context) error) (ran bool, err error) {
	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	client, err := locks.Open(opening, servers)
	if err != nil {
		return false, err
	}
	defer client.Close(context.WithoutCancel(ctx))
	err = locks.Do(ctx, locks.Try(client.Mutex("/jobs/nightly")), func(ctx context.Context, _ locks.Token) error {
		ran = true
		return job(ctx)
	})
	if errors.Is(err, locks.ErrNotAcquired) {
		return false, nil
	}
	return ran, err
}
