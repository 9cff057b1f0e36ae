// Command robfig runs a job with robfig/cron (github.com/robfig/cron/v3) in several processes: one of them for each
// instant of the schedule.
//
//	robfig -zk zk1:2181,zk2:2181 -name a -spec '@daily'
//	robfig -zk zk1:2181,zk2:2181 -name b -spec '*/5 * * * * *'
//
// A schedule of six fields begins with the second.
//
// robfig/cron runs jobs in each process. A JobWrapper, Once, asks Turnstile whether the instant was
// run already. The instant is the entry's Prev, which is the same in all processes: they need the
// same time zone. An "@every" schedule has no such instants, because each process counts from its
// own start: use locks.RunOnce with a period for it. robfig/cron's jobs are given no context. A Job
// is, and it ends when the lock is lost. robfig/cron's newest version is of 2020; gocron uses it to
// read its crontabs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/turnstile-locks/turnstile/locks"
)

func main() {
	servers := flag.String("zk", os.Getenv("ZOOKEEPER_SERVERS"), "the ZooKeeper servers")
	name := flag.String("name", "robfig", "what the process calls itself")
	spec := flag.String("spec", "* * * * *", "the schedule: five fields, six with seconds, or a word such as @daily")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *servers, *name, *spec); err != nil {
		fmt.Fprintln(os.Stderr, "robfig:", err)
		os.Exit(1)
	}
}

// run schedules the job until ctx ends.
func run(ctx context.Context, servers, name, spec string) error {
	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	client, err := locks.Open(opening, servers)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close(context.WithoutCancel(ctx)) }()
	parser := cron.NewParser(
		cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor)
	c := cron.New(cron.WithLocation(time.UTC), cron.WithParser(parser))
	_, err = Add(ctx, c, client, spec, "report", func(ctx context.Context) {
		fmt.Printf("report by %s for %s\n", name, locks.InstantOf(ctx).Format(time.RFC3339))
	})
	if err != nil {
		return err
	}
	c.Start()
	<-ctx.Done()
	<-c.Stop().Done() // when jobs have ended
	return nil
}
