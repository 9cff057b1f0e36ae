package services

import (
	"context"
	"net/http"

	"github.com/turnstile-locks/turnstile/locks"
)

// Leader is a loop that one replica runs at a time, until ctx ends: lead is called in the one that leads, again after
// each loss, and has to return when its ctx ends. alive is for the liveness probe: it fails while a leader that was
// deposed does not return.
func Leader(ctx context.Context, client *locks.Client, address string,
	lead func(ctx context.Context, token int64) error) (alive http.HandlerFunc, ended <-chan error) {
	election := client.Election("/scheduler")
	over := make(chan error, 1)
	go func() {
		over <- election.Run(ctx, address, func(ctx context.Context, term *locks.Leadership) error {
			return lead(ctx, int64(term.Token()))
		})
	}()
	return func(w http.ResponseWriter, _ *http.Request) {
		if err := election.Health(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	}, over
}
