package kinds

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// TestCrowd: many of several sessions lock one path again and again. Each holder fits with all that came before it, by
// their tokens, and have not left. So nobody holds beside one that excludes it, and nobody is overtaken.
func TestCrowd(t *testing.T) {
	type share struct {
		kind    scene.Kind
		percent int
	}
	type move struct {
		token   locks.Token
		percent int // below zero: it leaves
	}
	const sessions, workers, rounds = 4, 8, 10
	x := scene.Exclusive
	for name, shares := range map[string][]share{
		"mutex":               {{x, 100}},
		"cohorts":             {{x.With(locks.WithCohort(5)), 100}, {x, 100}},
		"sticky":              {{x.With(locks.WithSticky(time.Hour)), 100}},
		"readers and writers": {{scene.Reader, 1}, {scene.Writer, 100}, {scene.Reader, 1}},
		"semaphore":           {{scene.Permits(1, 5), 20}, {scene.Permits(2, 5), 40}, {scene.Permits(4, 5), 80}},
		"contest":             {{scene.Contest, 100}},
	} {
		t.Run(name, func(t *testing.T) {
			scene.EachServerAlone(t, func(t *testing.T, zk *scene.Servers) {
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
								lease, err := as.kind(client, "/crowd/c").Lock(scene.Deadline(t))
								if !assert.NoError(t, err) {
									return
								}
								note(lease, as.percent)
								assert.True(t, lease.Valid())
								note(lease, -as.percent)
								assert.NoError(t, lease.Unlock(scene.Deadline(t)))
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
