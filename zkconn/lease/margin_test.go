package lease_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/lease"
)

// TestWhatTheMarginCosts plays outages of several lengths, which begin at each millisecond of eight
// session timeouts, and counts the sessions that end: those of holders, and those with nodes of a
// Txn. It does so with today's margin, with half of it and with none. Where clocks differ the
// smaller ones are unsafe: see the mistake "no margin for a clock that is slow". An outage lasts
// from the loss of the connection to the answer to the next connect request. The servers know each
// of these sessions for T after its newest packet, so each that ends is one that they still know.
//
//	go test -v -run TestWhatTheMarginCosts ./zkconn/lease
func TestWhatTheMarginCosts(t *testing.T) {
	const timeout, trip = 10 * time.Second, 5 * time.Millisecond
	lengths, margins := []int{30, 35, 40, 45, 50, 55, 60}, []float64{lease.Margin, lease.Margin / 2, 0}
	for _, c := range []struct {
		of   string
		kept lease.Keeping
	}{{"holders", lease.Leased}, {"nodes of a Txn", lease.Owning}} {
		begun, ended := 0, map[int][]int{}
		for _, length := range lengths {
			ended[length] = make([]int, len(margins))
		}
		keep(timeout, trip, c.kept, func(now lease.Instant, chain *lease.Chain) {
			if now < 2*timeout || now >= 10*timeout {
				return
			}
			begun++
			left := outlasts(now, chain)
			for _, length := range lengths {
				for i, margin := range margins { // nothing but the end of the chain goes by it here
					if left+lease.Fraction(timeout, lease.Margin-margin) <= timeout*time.Duration(length)/100 {
						ended[length][i]++
					}
				}
			}
		})
		require.NotZero(t, begun)
		for _, length := range lengths {
			var line strings.Builder
			for i, margin := range margins {
				fmt.Fprintf(&line, "  %5.1f %% with a margin of %.2f T", 100*float64(ended[length][i])/float64(begun), margin)
			}
			t.Logf("%-14s  outage of 0.%d T ends%s", c.of, length, line.String())
		}
		require.Zero(t, ended[30][0], "an outage of 0.3 T ends none")
		require.Equal(t, begun, ended[60][0])
	}
}
