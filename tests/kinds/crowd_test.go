package kinds

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestCrowd: many of several sessions lock one path again and again. Each holder fits with all that came before it, by
// their tokens, and have not left. So nobody holds beside one that excludes it, and nobody is overtaken.
func TestCrowd(t *testing.T) {
	type share struct {
		kind    patient.Kind
		percent int
	}
	type move struct {
		token   locks.Token
		percent int // below zero: it leaves
	}
	const sessions, workers, rounds = 4, 8, 10
	x := patient.Exclusive
	for name, shares := range map[string][]share{
		"mutex":               {{x, 100}},
		"cohorts":             {{x.With(locks.WithCohort(5)), 100}, {x, 100}},
		"sticky":              {{x.With(locks.WithSticky(time.Hour)), 100}},
		"readers and writers": {{patient.Reader, 1}, {patient.Writer, 100}, {patient.Reader, 1}},
		"semaphore":           {{patient.Permits(1, 5), 20}, {patient.Permits(2, 5), 40}, {patient.Permits(4, 5), 80}},
		"contest":             {{patient.Contest, 100}},
	} {
		t.Run(name, func(t *testing.T) {
			stories.EachServerAlone(t, func(t *testing.T, zk *stories.Servers) {
				var all sync.WaitGroup
				var mu sync.Mutex
				var moves []move
				note := func(lease *locks.Lease, percent int) {
					mu.Lock()
					defer mu.Unlock()
					moves = append(moves, move{lease.Token(), percent})
				}
				for range sessions {
					client := zk.Open(t)
					for i := range workers {
						as := shares[i%len(shares)]
						all.Go(func() {
							for range rounds {
								lease, err := as.kind(client, "/crowd/c").Lock(patient.Deadline(t))
								if !assert.NoError(t, err) {
									return
								}
								note(lease, as.percent)
								assert.True(t, lease.Valid())
								note(lease, -as.percent)
								assert.NoError(t, lease.Unlock(patient.Deadline(t)))
							}
						})
					}
				}
				all.Wait()
				require.Len(t, moves, 2*sessions*workers*rounds)
				left := map[locks.Token]bool{}
				for _, m := range moves {
					if m.percent < 0 {
						left[m.token] = true
						continue
					}
					taken := m.percent
					for _, other := range moves {
						if other.percent > 0 && other.token < m.token && !left[other.token] {
							taken += other.percent
						}
					}
					require.LessOrEqual(t, taken, 100, "%v came in before others that came before it: %v", m.token, moves)
				}
			})
		})
	}
}
