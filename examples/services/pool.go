package services

import (
	"context"
	"errors"
	"sync"

	"github.com/turnstile-locks/turnstile/locks"
)

// Pool carries out jobs with several workers, of which no more than three work at a time in all replicas together: so
// many licences there are. It ends when there are no more jobs, or ctx has ended.
func Pool(ctx context.Context, client *locks.Client, workers int, jobs <-chan func(ctx context.Context) error) error {
	licences := client.Semaphore("/licences", 3)
	var all sync.WaitGroup
	failed := make(chan error, workers)
	for range workers {
		all.Go(func() {
			for job := range jobs {
				work := func(ctx context.Context, _ locks.Token) error { return job(ctx) }
				if err := locks.Do(ctx, licences.Weight(1), work); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	var errs []error
	for err := range failed {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}
