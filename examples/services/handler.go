package services

import (
	"context"
	"errors"
	"net/http"

	"github.com/turnstile-locks/turnstile/locks"
)

// Pay is an HTTP handler that pays an order, alone: PUT /orders/{id}. It works for as long as the request and the lease
// last, whichever ends first; the store refuses tokens that are smaller than one it has seen.
func Pay(client *locks.Client, pay func(ctx context.Context, id string, token int64) error) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		id := r.PathValue("id")
		err := locks.Do(r.Context(), client.Mutex("/orders/"+id), func(ctx context.Context, token locks.Token) error {
			return pay(ctx, id, int64(token))
		})
		switch {
		case err == nil:
			w.WriteHeader(http.StatusNoContent)
		case r.Context().Err() != nil: // the client has gone, or the server ends
			http.Error(w, "interrupted", http.StatusServiceUnavailable)
		case locks.MayPass(err), errors.Is(err, locks.ErrClosed): // the store may have been written to all the same
			http.Error(w, "try again", http.StatusServiceUnavailable)
		case errors.Is(err, locks.ErrBadPath):
			http.Error(w, "no such order", http.StatusBadRequest)
		default:
			http.Error(w, "the order could not be paid", http.StatusInternalServerError)
		}
	})
	mux.HandleFunc("GET /ready", func(w http.ResponseWriter, _ *http.Request) {
		if err := client.Ready(); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	return mux
}
