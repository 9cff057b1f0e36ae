// Command scheduler runs jobs with gocron (github.com/go-co-op/gocron/v2) in several processes, with Turnstile as its
// Locker and as its Elector: package locks/adapters/gocron. It is a module of its own, so that Turnstile does not depend
// on gocron. Below it are robfig/cron and asynq: examples/scheduler/robfig and examples/scheduler/asynq.
//
//	scheduler -zk zk1:2181,zk2:2181 -name a -by locker -every 1s -ahead 2h
//	scheduler -zk zk1:2181,zk2:2181 -name b -by locker -every 1s -ahead -35m200ms
//	scheduler -zk zk1:2181,zk2:2181 -name c -by locker -cron '* * * * * *' -takes 20ms
//
// Each process has its own schedule by its own clock, which -ahead sets wrong. With -by locker the
// process that comes first when the job is due runs it. With -cron it is run once for each instant,
// and with -every once in a period. With -by elector one process, the leader, runs all of them by
// its clock. A line is printed for each run:
//
//	report by a, token 4294968320
//
// With -by locker there is another when it is marked as done. It has the time by the servers' clock at which the run
// began, in milliseconds, and what it was for:
//
//	done report by a at 1735689600123, token 4294968320, for 2025-01-01T00:00:00Z
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/turnstile-locks/turnstile/locks"
	gocronlocks "github.com/turnstile-locks/turnstile/locks/adapters/gocron"
)

// settings are the values of the flags.
type settings struct {
	servers, name, by, cron string
	every, takes, ahead     time.Duration
	session                 time.Duration
}

func main() {
	var s settings
	flag.StringVar(&s.servers, "zk", os.Getenv("ZOOKEEPER_SERVERS"), "the ZooKeeper servers")
	flag.StringVar(&s.name, "name", "scheduler", "what the process calls itself")
	flag.StringVar(&s.by, "by", "locker", "locker or elector")
	flag.DurationVar(&s.every, "every", time.Second, "the time between two runs")
	flag.StringVar(&s.cron, "cron", "", "the schedule with seconds, as '* * * * * *', in the place of -every")
	flag.DurationVar(&s.takes, "takes", 0, "how long a run takes")
	flag.DurationVar(&s.ahead, "ahead", 0, "how far the process's clock is ahead of the right time")
	flag.DurationVar(&s.session, "session-timeout", 10*time.Second, "the session timeout")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := s.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "scheduler:", err)
		os.Exit(1)
	}
}

// run schedules the job until ctx ends.
func (s *settings) run(ctx context.Context) error {
	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	client, err := locks.Open(opening, s.servers, locks.WithSessionTimeout(s.session))
	if err != nil {
		return err
	}
	defer func() { _ = client.Close(context.WithoutCancel(ctx)) }()
	clock := newWrongClock(s.ahead)
	options := []gocron.SchedulerOption{gocron.WithClock(clock), gocron.WithLocation(time.UTC)}
	report := func(context.Context) { fmt.Printf("report by %s\n", s.name); time.Sleep(s.takes) }
	locker := &gocronlocks.Locker{Client: client, Root: "/jobs", Clock: clock, Options: []locks.LockOption{locks.WithLabel(s.name)}}
	switch s.by {
	case "locker":
		locker.Done = func(r gocronlocks.Run) {
			fmt.Printf("done %s by %s at %d, token %d, for %v\n", r.Job, r.Mark.Label, r.Mark.Began.UnixMilli(), r.Token, r.Tick)
		}
		options = append(options, gocron.WithDistributedLocker(locker))
	case "elector":
		elector := gocronlocks.NewElector(ctx, client.Election("/scheduler"), s.name)
		defer elector.Stop()
		report = func(context.Context) { fmt.Printf("report by %s, token %d\n", s.name, elector.Token()) }
		options = append(options, gocron.WithDistributedElector(elector))
	default:
		return fmt.Errorf("-by %s: must be locker or elector", s.by)
	}
	scheduler, err := gocron.NewScheduler(options...)
	if err != nil {
		return err
	}
	locker.Follow(scheduler)
	if _, err = scheduler.NewJob(s.schedule(), gocron.NewTask(report), gocron.WithName("report")); err != nil {
		return err
	}
	scheduler.Start()
	<-ctx.Done()
	return scheduler.Shutdown()
}

// schedule is the schedule of the job.
func (s *settings) schedule() gocron.JobDefinition {
	if s.cron != "" {
		return gocron.CronJob(s.cron, true)
	}
	return gocron.DurationJob(s.every)
}
