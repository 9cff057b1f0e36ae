package gocronlocks

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/go-co-op/gocron/v2"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// led is a process with an Elector, whose clock the test moves.
type led struct {
	*Elector
	clock *clockwork.FakeClock
}

// leading waits until one process alone leads, which had not led with this token, and gives its
// number.
func leading(t *testing.T, all []led, after uint64) int {
	t.Helper()
	for end := time.Now().Add(scene.Bound); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		var lead []int
		for i, e := range all {
			if e.IsLeader(t.Context()) == nil {
				lead = append(lead, i)
			}
		}
		if len(lead) == 1 && uint64(all[lead[0]].Token()) > after { // the one whose session has ended has heard of it, too
			return lead[0]
		}
	}
	require.Fail(t, "nobody leads alone")
	return -1
}

// TestElector: three replicas tick; the leader runs the job, and the others do not. When its
// session has expired another leads, with a greater token, and runs the next tick. When that one
// stops, so does the next.
func TestElector(t *testing.T) {
	server := embedded.Run(t)
	ran := make(chan string, 100)
	var all []led
	for i := range 3 {
		e := led{NewElector(scene.Deadline(t), scene.Open(t, server.Addr()).Election("/scheduler"), fmt.Sprint("r", i)),
			clockwork.NewFakeClockAt(begin)}
		t.Cleanup(e.Stop)
		scheduler, err := gocron.NewScheduler(gocron.WithClock(e.clock), gocron.WithDistributedElector(e))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, scheduler.Shutdown()) })
		name := fmt.Sprint("r", i)
		_, err = scheduler.NewJob(gocron.CronJob(everySecond, true), gocron.NewTask(func() { ran <- name }))
		require.NoError(t, err)
		scheduler.Start()
		all = append(all, e)
	}
	tick := func(leader int) {
		t.Helper()
		for _, e := range all {
			require.NoError(t, e.clock.BlockUntilContext(scene.Deadline(t), 1))
			e.clock.Advance(time.Second)
		}
		require.Equal(t, fmt.Sprint("r", leader), scene.Receive(t, ran))
		for _, e := range all { // each has been asked, and waits for the next tick
			require.NoError(t, e.clock.BlockUntilContext(scene.Deadline(t), 1))
		}
		require.Empty(t, ran)
	}
	first := leading(t, all, 0)
	tick(first)
	token := all[first].Token()
	require.NoError(t, server.Expire(all[first].term.Load().Session()))
	second := leading(t, all, uint64(token))
	tick(second)
	token = all[second].Token()
	all[second].Stop()
	require.ErrorIs(t, all[second].IsLeader(t.Context()), errNotLeader)
	require.ErrorIs(t, all[second].IsLeader(t.Context()), context.Canceled)
	tick(leading(t, all, uint64(token)))
}
