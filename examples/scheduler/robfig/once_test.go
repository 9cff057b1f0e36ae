package main

import (
	"sync"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// runs are the instants that a job has run for, and how often.
type runs struct {
	mu    sync.Mutex
	count map[time.Time]int
	all   chan struct{}
}

func (r *runs) add(instant time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count[instant]++
	r.all <- struct{}{}
}

// TestOnce: three processes, whose ticks are a tenth of a second apart, have a job of 20 ms in their schedules. One of
// them ends on the way. The job runs once for each instant; without Once, on each process.
func TestOnce(t *testing.T) {
	const everySecond, ticks = "* * * * * *", 5
	replicas := func(t *testing.T, add func(c *cron.Cron, work func(time.Time))) (*runs, []*cron.Cron) {
		r := &runs{count: make(map[time.Time]int), all: make(chan struct{}, 1000)}
		var all []*cron.Cron
		for i := range 3 {
			later := func(job cron.Job) cron.Job { // as with a clock that is behind
				return cron.FuncJob(func() { time.Sleep(time.Duration(i) * 100 * time.Millisecond); job.Run() })
			}
			c := cron.New(cron.WithSeconds(), cron.WithLocation(time.UTC), cron.WithChain(later))
			add(c, func(instant time.Time) { r.add(instant); time.Sleep(20 * time.Millisecond) })
			t.Cleanup(func() { <-c.Stop().Done() })
			all = append(all, c)
		}
		for _, c := range all {
			c.Start()
		}
		return r, all
	}
	once := func(t *testing.T, servers string) {
		r, all := replicas(t, func(c *cron.Cron, work func(time.Time)) {
			_, err := Add(patient.Deadline(t), c, patient.Open(t, servers), everySecond, "report", work)
			require.NoError(t, err)
		})
		for n := range 2 * ticks {
			if n == ticks {
				<-all[0].Stop().Done()
			}
			patient.Receive(t, r.all)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for instant, n := range r.count {
			require.Equal(t, 1, n, "%v", instant)
		}
		t.Logf("%d instants, each once", len(r.count))
	}
	t.Run("embedded", func(t *testing.T) { once(t, embedded.Run(t).Connect()) })
	t.Run("real", func(t *testing.T) {
		rig.Require(t)
		once(t, rig.StartStandalone(t).Addr())
	})
	t.Run("without", func(t *testing.T) {
		r, _ := replicas(t, func(c *cron.Cron, work func(time.Time)) {
			var id cron.EntryID
			id, err := c.AddFunc(everySecond, func() { work(c.Entry(id).Prev) })
			require.NoError(t, err)
		})
		for range 3 * ticks {
			patient.Receive(t, r.all)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		require.Less(t, len(r.count), 3*ticks, "no instant ran twice")
		t.Logf("%d runs for %d instants", 3*ticks, len(r.count))
	})
}
