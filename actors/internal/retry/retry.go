// Package retry says how long to pause before a request to ZooKeeper is sent again, because its
// outcome is unknown or it was not sent. There is one policy: exponential, jittered by half, and
// without end, because each caller knows when to stop (the epoch, the lease, the asker).
package retry

import (
	"time"

	"github.com/cenkalti/backoff/v4"
)

// The pauses are 50, 100 and then 200 ms long, each jittered by half. What failed on a connection that
// breaks usually waits for the next one, and not for these: they bound what an attempt costs that
// fails while the connection stays. That is 20 requests a second at first and 5 in the long run.
const (
	first   = 50 * time.Millisecond
	longest = 200 * time.Millisecond
	growth  = 2
	grown   = 3 // failures after which a pause is longest
)

// Pause gives the pause after so many failures in a row. It is at most 300 ms.
func Pause(failures int) time.Duration {
	pauses := backoff.NewExponentialBackOff(backoff.WithInitialInterval(first),
		backoff.WithMaxInterval(longest), backoff.WithMultiplier(growth), backoff.WithMaxElapsedTime(0))
	for range min(failures, grown) - 1 {
		pauses.NextBackOff()
	}
	return pauses.NextBackOff()
}

// What a server hangs up on, or puts off, is asked for again after pauses of 100 ms, 200 ms and so on up to 5 s, each
// jittered by half: each hang-up costs all others on the connection a reconnect.
const (
	suspected   = 2 // hang-ups after which they begin; before that the pauses are those of Pause
	firstLong   = 100 * time.Millisecond
	longestLong = 5 * time.Second
)

// LongPause gives the pause after a server has hung up on the same request so many times in a row. It is at most 7.5 s.
func LongPause(hangUps int) time.Duration {
	if hangUps < suspected {
		return Pause(hangUps)
	}
	pauses := backoff.NewExponentialBackOff(backoff.WithInitialInterval(firstLong),
		backoff.WithMaxInterval(longestLong), backoff.WithMultiplier(growth), backoff.WithMaxElapsedTime(0))
	for range min(hangUps-suspected, 8) {
		pauses.NextBackOff()
	}
	return pauses.NextBackOff()
}
