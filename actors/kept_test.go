package actors

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestWaitersKeepNoQueue: a waiter does not keep the listing that it got when it came. With the
// names of all before it, for each waiter, memory would grow with the square of the queue.
func TestWaitersKeepNoQueue(t *testing.T) {
	for name, want := range map[string]messages.Acquire{
		"a listing with each create": {Path: "/early"},
		"semaphore":                  {Path: "/semaphore", Mode: messages.Semaphore, Permits: 1},
	} {
		t.Run(name, func(t *testing.T) {
			const waiters = 15 // a queue that is not listed behind creates has more
			handle, inside := spied(t, embedded.Run(t))
			for i := range 1 + waiters {
				_, rec := spawnRecorded(handle, want)
				state := messages.StateWatching
				if i == 0 {
					state = messages.StateHeld
				}
				_, err := rec.await(t.Context(), state, 1)
				require.NoError(t, err)
			}
			require.Eventually(t, func() bool {
				early, names := 0, 0
				inside(func(s *session) {
					requests := reflect.ValueOf(s.decides).Elem().FieldByName("requests")
					require.Equal(t, 1+waiters, requests.Len())
					for all := requests.MapRange(); all.Next(); {
						r := all.Value().Elem()
						if !r.FieldByName("early").IsNil() {
							early++
						}
						view := r.FieldByName("view")
						names += view.FieldByName("front").Len() + view.FieldByName("earlier").Len()
					}
				})
				return early == 0 && names <= 2*waiters
			}, time.Minute, 5*time.Millisecond)
		})
	}
}
