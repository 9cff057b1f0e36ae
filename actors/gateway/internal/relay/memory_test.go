package relay_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestMemoryIsBounded: a gateway keeps no more than its limits allow, with any sendings in any
// order, from requesters that never say that they know of the end. And no sending that is less than
// two patiences late begins an ended request again.
func TestMemoryIsBounded(t *testing.T) {
	const patience = 10 * time.Second
	spawned := 0
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 1))
		limits := relay.Limits{Requests: 1 + random.IntN(10), Ended: 1 + random.IntN(30)}
		table := relay.NewTable(7, patience, limits)
		now, over, numbers := relay.Instant(0), map[string]relay.Instant{}, map[string]uint64{}
		for range 2000 {
			now += relay.Instant(random.Int64N(int64(time.Second)))
			id := fmt.Sprint(random.IntN(60))
			numbers[id]++
			r := relay.Request{ID: id, Number: numbers[id]}
			switch random.IntN(10) {
			case 0:
				r.Wish, r.Over = relay.Cancel, random.IntN(2) == 0
			case 1:
				r.Number = 1
				fallthrough
			default:
				r.Want = &messages.Acquire{Path: "/lock"}
			}
			for _, o := range append(table.Request(now, never{}, messages.ActorID{ID: id}, r), table.Sweep(now)...) {
				switch o := o.(type) {
				case relay.Spawn:
					before, was := over[o.ID]
					require.False(t, was && now-before < relay.Instant(2*patience), "seed %d: %s begins again at %v, over at %v",
						seed, o.ID, time.Duration(now), time.Duration(before))
					spawned++
				case relay.Tell:
					table.Told(now, o.ID, &messages.Cancelled{})
				}
			}
			if r.Over || r.Wish >= relay.Cancel {
				over[id] = now
			}
			require.LessOrEqual(t, table.Size(), limits.Requests)
			require.LessOrEqual(t, table.Remembered(), 2*limits.Ended)
		}
	}
	require.Greater(t, spawned, 1000)
	t.Logf("%d requests began", spawned)
}

// never is the lease of a gateway that grants nothing.
type never struct{}

func (never) Left(uint64, uint64) time.Duration { return 0 }
