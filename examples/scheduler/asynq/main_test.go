package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/hibiken/asynq"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

const everySecond = "@every 1s"

func TestMain(m *testing.M) { rig.CommandMain(m, main) }

// enqueued gives the names of the replicas that have enqueued the tasks, in that order.
func enqueued(t *testing.T, inspector *asynq.Inspector) (names []string) {
	t.Helper()
	tasks, err := inspector.ListPendingTasks("default", asynq.PageSize(1000))
	if err != nil {
		require.ErrorIs(t, err, asynq.ErrQueueNotFound)
		return nil
	}
	for _, task := range tasks {
		name, _, _ := strings.Cut(string(task.Payload), " ")
		names = append(names, name)
	}
	return names
}

// TestLead: of three processes one enqueues. When its session expires another does, and the first one no more while that
// one leads. Redis is miniredis: a server in the test's process.
func TestLead(t *testing.T) {
	server, redis := embedded.Run(t), miniredis.RunT(t)
	connection := asynq.RedisClientOpt{Addr: redis.Addr()}
	inspector := asynq.NewInspector(connection)
	t.Cleanup(func() { require.NoError(t, inspector.Close()) })
	ends := make(map[string]context.CancelFunc)
	over := make(chan error, 3)
	var observer *locks.Election
	for i := range 3 {
		name := fmt.Sprint("r", i)
		ctx, end := context.WithCancel(scene.Deadline(t))
		ends[name] = end
		election := scene.Open(t, server.Addr()).Election("/scheduler")
		observer = election
		go func() { over <- Lead(ctx, election, name, connection, everySecond) }()
	}
	first := awaitTasks(t, inspector, nil, 3)
	require.Len(t, slices.Compact(slices.Clone(first)), 1, "one leads: %v", first)
	leader, err := observer.Leader(scene.Deadline(t))
	require.NoError(t, err)
	require.Equal(t, leader.Value, first[0])

	require.NoError(t, server.Expire(leader.Contender.Session))
	ends[leader.Value]() // it would campaign again
	all := awaitTasks(t, inspector, []string{leader.Value}, 3)
	at := slices.IndexFunc(all, func(name string) bool { return name != leader.Value })
	require.Len(t, slices.Compact(slices.Clone(all[at:])), 1, "one leads: %v", all)
	t.Logf("%d tasks by %s, then %d by %s", at, leader.Value, len(all)-at, all[at])
	for _, end := range ends {
		end()
	}
	for range ends {
		require.ErrorIs(t, <-over, context.Canceled)
	}
}

// TestKilledLeader: of three processes of the program one enqueues in each term, and tokens grow
// from one of its terms to the next. When the one that leads is killed, another goes on in a term
// of its own.
func TestKilledLeader(t *testing.T) {
	server, redis := embedded.Run(t), miniredis.RunT(t)
	inspector := asynq.NewInspector(asynq.RedisClientOpt{Addr: redis.Addr()})
	t.Cleanup(func() { require.NoError(t, inspector.Close()) })
	processes := make(map[string]*rig.Process)
	for i := range 3 {
		name := fmt.Sprint("r", i)
		cmd := rig.Self("-zk", server.Connect(), "-redis", redis.Addr(), "-name", name, "-spec", everySecond)
		cmd.Stderr = scene.ErrorOutput(t, os.Stderr)
		p, err := rig.StartProcess(cmd, func() {})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, p.Kill()) })
		processes[name] = p
	}
	before := awaitTasks(t, inspector, nil, 3)
	dead := before[len(before)-1]
	require.NoError(t, processes[dead].Kill())
	awaitTasks(t, inspector, []string{dead}, 3+len(before))

	tasks, err := inspector.ListPendingTasks("default", asynq.PageSize(1000))
	require.NoError(t, err)
	enqueuedBy, last, newest := map[int64]string{}, map[string]int64{}, ""
	for _, task := range tasks {
		var name string
		var term int64
		_, err := fmt.Sscan(string(task.Payload), &name, &term)
		require.NoError(t, err, "%s", task.Payload)
		if by, known := enqueuedBy[term]; known {
			require.Equal(t, by, name, "two enqueue in one term")
		}
		enqueuedBy[term] = name
		require.GreaterOrEqual(t, term, last[name])
		last[name], newest = term, name
	}
	require.NotEqual(t, dead, newest)
	require.Greater(t, last[newest], last[dead])
	t.Logf("%d tasks in %d terms, %v", len(tasks), len(enqueuedBy), enqueuedBy)
}

// TestEveryScheduler: without an election each of three enqueues every task.
func TestEveryScheduler(t *testing.T) {
	redis := miniredis.RunT(t)
	connection := asynq.RedisClientOpt{Addr: redis.Addr()}
	inspector := asynq.NewInspector(connection)
	t.Cleanup(func() { require.NoError(t, inspector.Close()) })
	for i := range 3 {
		scheduler := asynq.NewScheduler(connection, &asynq.SchedulerOpts{LogLevel: asynq.ErrorLevel})
		_, err := scheduler.Register(everySecond, asynq.NewTask("report", []byte(fmt.Sprint("r", i))))
		require.NoError(t, err)
		require.NoError(t, scheduler.Start())
		t.Cleanup(scheduler.Shutdown)
	}
	for end := time.Now().Add(scene.Bound); ; time.Sleep(100 * time.Millisecond) {
		names := enqueued(t, inspector)
		slices.Sort(names)
		if names = slices.Compact(names); len(names) == 3 {
			return
		}
		require.True(t, time.Now().Before(end), "%v", names)
	}
}

// awaitTasks waits until so many tasks are there of others than some, and gives all.
func awaitTasks(t *testing.T, inspector *asynq.Inspector, but []string, n int) []string {
	t.Helper()
	for end := time.Now().Add(scene.Bound); ; time.Sleep(100 * time.Millisecond) {
		names := enqueued(t, inspector)
		others := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(but, name) })
		if len(others) >= n {
			return names
		}
		require.True(t, time.Now().Before(end), "%v", names)
	}
}
