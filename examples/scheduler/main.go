// Command scheduler runs jobs with gocron (github.com/go-co-op/gocron/v2) in several processes, with Turnstile as its
// Locker and as its Elector. It is a module of its own, so that Turnstile does not depend on gocron.
//
//	scheduler -zk zk1:2181,zk2:2181 -name a -by locker  -every 1s -ahead 2h
//	scheduler -zk zk1:2181,zk2:2181 -name b -by locker  -every 1s -ahead -35m200ms
//
// Each process has its own schedule by its own clock, which -ahead sets wrong. With -by locker every run of the job is
// that of whichever process comes first when it is due: see Locker. With -by elector one process, the leader, runs all
// of them by its clock: see Elector. A line is printed for each run:
//
//	report by a, token 4294968320
//
// and, with -by locker, another when it is marked as done, with the time by the servers' clock at which it began:
//
//	done report by a at 1735689600123
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
)

// settings are what the flags say.
type settings struct {
	servers, name, by string
	every, ahead      time.Duration
	session           time.Duration
}

func main() {
	var s settings
	flag.StringVar(&s.servers, "zk", os.Getenv("ZOOKEEPER_SERVERS"), "the ZooKeeper servers")
	flag.StringVar(&s.name, "name", "scheduler", "what the process calls itself")
	flag.StringVar(&s.by, "by", "locker", "locker or elector")
	flag.DurationVar(&s.every, "every", time.Second, "the time between two runs")
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
	options := []gocron.SchedulerOption{gocron.WithClock(newWrongClock(s.ahead))}
	report := func(ctx context.Context) { fmt.Printf("report by %s\n", s.name) }
	switch s.by {
	case "locker":
		locker := &Locker{Client: client, Below: "/jobs", Label: s.name, Period: s.every * 9 / 10}
		locker.Done = func(key string, m locks.Mark) {
			fmt.Printf("done %s by %s at %d, token %d\n", key, m.Label, m.Began.UnixMilli(), m.Token)
		}
		options = append(options, gocron.WithDistributedLocker(locker))
	case "elector":
		elector := NewElector(ctx, client.Election("/scheduler"), s.name)
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
	_, err = scheduler.NewJob(gocron.DurationJob(s.every), gocron.NewTask(report), gocron.WithName("report"))
	if err != nil {
		return err
	}
	scheduler.Start()
	<-ctx.Done()
	return scheduler.Shutdown()
}
