package board

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// gone is the number of contenders that have left, by the rate's count.
func gone(r *rate) (sum int) {
	for _, n := range r.counts {
		sum += n
	}
	return sum
}

func TestRateCountsByNumbers(t *testing.T) {
	var r rate
	take := func(second float64, numbers ...int) { r.take(after(second), queue(numbers...).Contenders) }
	take(0, 10, 11)
	require.Zero(t, gone(&r), "what was before is not known")
	take(1, 11, 12)
	require.Equal(t, 1, gone(&r))
	take(2, 57, 58) // 13 to 56 came and went between two looks
	require.Equal(t, 1+46, gone(&r))
	take(3)
	require.Equal(t, 1+46+2, gone(&r))
	take(4, 61) // 59 and 60 came and went
	require.Equal(t, 1+46+2+2, gone(&r))
	take(5, 61, 62)
	require.Equal(t, 51, gone(&r), "nobody left")
	take(6, 61)
	require.Equal(t, 52, gone(&r), "the last one gave up")
	take(7, 0, 1) // the lock path was made again
	require.Equal(t, 53, gone(&r))
	require.InDelta(t, 5.3, mean(r.seconds(after(8))), 0.01, "over ten seconds")
	require.Zero(t, mean(r.seconds(after(30))))
	require.Len(t, r.seconds(after(30)), rateSeconds-1)
	require.Zero(t, gone(&rate{}))
	r.turn(after(1000))
	require.Zero(t, gone(&r))
}

func TestRateOfContests(t *testing.T) {
	var r rate
	contest := func(token messages.Token) []messages.Contender {
		return []messages.Contender{{Mode: messages.Contest, Holds: true, Token: token}}
	}
	r.take(after(0), contest(5))
	r.take(after(1), contest(5))
	require.Zero(t, gone(&r))
	r.take(after(2), contest(6))
	require.Equal(t, 1, gone(&r))
	r.take(after(3), nil)
	r.take(after(4), contest(7))
	require.Equal(t, 2, gone(&r))
}
