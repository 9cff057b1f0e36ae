// Command asynq enqueues periodic tasks with asynq (github.com/hibiken/asynq): of several processes, the one that leads.
//
//	asynq -zk zk1:2181,zk2:2181 -redis 127.0.0.1:6379 -name a -spec '@every 30s'
//
// Every asynq.Scheduler enqueues every task. With two of them each task is there twice, so asynq's manual says to run one.
// Then nothing is enqueued while that one is down. Lead runs a Scheduler while this process leads, and another process
// leads when it has ended or its session is over.
//
// A new leader goes on with its own schedule. So a tick between two leaders may be enqueued by both
// or, while nobody leads, by none. For tasks that must not be twice, use asynq.Unique: Redis then
// refuses a second one of the same type and payload. Here the payload says who has enqueued the
// task, and in which term: the fencing token of the lead. Leave both out of the payload of a unique
// task.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/hibiken/asynq"

	"github.com/turnstile-locks/turnstile/locks"
)

func main() {
	servers := flag.String("zk", os.Getenv("ZOOKEEPER_SERVERS"), "the ZooKeeper servers")
	redis := flag.String("redis", "127.0.0.1:6379", "the Redis server")
	name := flag.String("name", "asynq", "what the process calls itself")
	spec := flag.String("spec", "@every 30s", "the schedule")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	client, err := locks.Open(opening, *servers)
	if err == nil {
		defer func() { _ = client.Close(context.WithoutCancel(ctx)) }()
		err = Lead(ctx, client.Election("/scheduler"), *name, asynq.RedisClientOpt{Addr: *redis}, *spec)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "asynq:", err)
		os.Exit(1)
	}
}

// Lead enqueues a task by a schedule, while this process leads, until ctx ends.
func Lead(ctx context.Context, election *locks.Election, name string, redis asynq.RedisConnOpt, spec string) error {
	return election.Run(ctx, name, func(ctx context.Context, term *locks.Leadership) error {
		scheduler := asynq.NewScheduler(redis, &asynq.SchedulerOpts{LogLevel: asynq.ErrorLevel})
		task := asynq.NewTask("report", fmt.Appendf(nil, "%s %v", name, term.Token()))
		if _, err := scheduler.Register(spec, task); err != nil {
			return err
		}
		if err := scheduler.Start(); err != nil {
			return err
		}
		defer scheduler.Shutdown()
		<-ctx.Done()
		return nil
	})
}
