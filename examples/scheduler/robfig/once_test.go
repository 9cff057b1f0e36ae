package main

import (
	"bufio"
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/robfig/cron/v3"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

func TestMain(m *testing.M) { rig.CommandMain(m, main) }

// runs are the instants that a job has run for, and how often.
type runs struct {
	mu    sync.Mutex
	count map[time.Time]int
	all   chan struct{}
}

// add is a job of 20 ms.
func (r *runs) add(instant time.Time) {
	r.mu.Lock()
	r.count[instant]++
	r.mu.Unlock()
	r.all <- struct{}{}
	time.Sleep(20 * time.Millisecond)
}

// TestOnce: three processes, whose ticks are a tenth of a second apart, have a job of 20 ms in their schedules. One of
// them ends on the way. The job runs once for each instant; without Once, on each process.
func TestOnce(t *testing.T) {
	const everySecond, ticks = "* * * * * *", 5
	replicas := func(t *testing.T, add func(c *cron.Cron, r *runs)) (*runs, []*cron.Cron) {
		r := &runs{count: make(map[time.Time]int), all: make(chan struct{}, 1000)}
		var all []*cron.Cron
		for i := range 3 {
			later := func(job cron.Job) cron.Job { // as with a clock that is behind
				return cron.FuncJob(func() { time.Sleep(time.Duration(i) * 100 * time.Millisecond); job.Run() })
			}
			c := cron.New(cron.WithSeconds(), cron.WithLocation(time.UTC), cron.WithChain(later))
			add(c, r)
			t.Cleanup(func() { <-c.Stop().Done() })
			all = append(all, c)
		}
		for _, c := range all {
			c.Start()
		}
		return r, all
	}
	once := func(t *testing.T, servers string) {
		r, all := replicas(t, func(c *cron.Cron, r *runs) {
			_, err := Add(scene.Deadline(t), c, scene.Open(t, servers), everySecond, "report",
				func(ctx context.Context) { r.add(locks.InstantOf(ctx)) })
			require.NoError(t, err)
		})
		for n := range 2 * ticks {
			if n == ticks {
				<-all[0].Stop().Done()
			}
			scene.Receive(t, r.all)
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
		r, _ := replicas(t, func(c *cron.Cron, r *runs) {
			var id cron.EntryID
			id, err := c.AddFunc(everySecond, func() { r.add(c.Entry(id).Prev) })
			require.NoError(t, err)
		})
		for range 3 * ticks {
			scene.Receive(t, r.all)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		require.Less(t, len(r.count), 3*ticks, "no instant ran twice")
		t.Logf("%d runs for %d instants", 3*ticks, len(r.count))
	})
}

// TestJobHearsOfTheLoss: a job that has lost its lock is told by its context, also behind other wrappers. A job of
// robfig/cron's own runs as ever.
func TestJobHearsOfTheLoss(t *testing.T) {
	server := embedded.Run(t)
	client := scene.Open(t, server.Connect())
	instant := time.Now().Truncate(time.Second)
	began, heard := make(chan struct{}), make(chan error, 1)
	wrapped := cron.NewChain(cron.Recover(cron.DefaultLogger), Once(scene.Deadline(t), client, "/lost",
		func() time.Time { return instant })).Then(Job(func(ctx context.Context) {
		close(began)
		<-ctx.Done()
		heard <- context.Cause(ctx)
	}))
	go wrapped.Run()
	scene.Receive(t, began)
	require.NoError(t, server.Expire(client.State().ID))
	require.ErrorIs(t, scene.Receive(t, heard), locks.ErrLost)

	ran := make(chan struct{}, 1)
	Once(scene.Deadline(t), client, "/own", func() time.Time { return instant })(cron.FuncJob(func() { ran <- struct{}{} })).Run()
	require.Len(t, ran, 1)
}

// TestKilledRunner: three processes of the program tick each second, and the one that ran last is
// killed. The job runs once for each instant, before and after.
func TestKilledRunner(t *testing.T) {
	const runs = 5
	servers := embedded.Run(t).Connect()
	said := make(chan string, 1000)
	processes := make(map[string]*rig.Process)
	for _, name := range []string{"a", "b", "c"} {
		out, writer, err := os.Pipe()
		require.NoError(t, err)
		cmd := rig.Self("-zk", servers, "-name", name, "-spec", "* * * * * *")
		cmd.Stdout, cmd.Stderr = writer, scene.ErrorOutput(t, os.Stderr)
		p, err := rig.StartProcess(cmd, func() { _ = writer.Close() })
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, p.Kill()) })
		processes[name] = p
		go func() {
			defer func() { _ = out.Close() }()
			for lines := bufio.NewScanner(out); lines.Scan(); {
				said <- lines.Text()
			}
		}()
	}
	ranBy, dead := make(map[string]string), ""
	for n := range 2 * runs {
		by, instant, found := strings.Cut(strings.TrimPrefix(scene.Receive(t, said), "report by "), " for ")
		require.True(t, found)
		require.NotContains(t, ranBy, instant, "twice, by %s", by)
		ranBy[instant] = by
		if n == runs {
			require.NoError(t, processes[by].Kill())
			dead = by
		}
	}
	others := 0
	for _, by := range ranBy {
		if by != dead {
			others++
		}
	}
	require.NotZero(t, others)
	t.Logf("%d instants, each once: %v", len(ranBy), ranBy)
}
