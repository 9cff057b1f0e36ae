package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// idleTimeout is the session timeout of idle clients whose processor time is measured.
const idleTimeout = 10 * time.Second

// idleSyncs measures what idle clients cost.
func idleSyncs(ctx context.Context, o options, p printer) (err error) {
	server, err := rig.NewStandalone(rig.WithTickTime(o.tick))
	if err != nil {
		return err
	}
	defer func() { _ = server.Stop() }()
	f, err := openFleet(ctx, o.clients, []string{server.Addr()}, idleTimeout, 0, false)
	defer func() { err = errors.Join(err, f.close(ctx)) }()
	if err != nil {
		return err
	}
	rig.Rest(ctx, 2*idleTimeout) // the server's code is warm
	before, err := spentBy(ctx, server)
	if err != nil {
		return err
	}
	rig.Rest(ctx, o.measure)
	after, err := spentBy(ctx, server)
	if err != nil {
		return err
	}
	p.line("\n%d idle clients, T = %v, %v: processor time of the server %.2f s, of this process %.2f s; %.0f packets a second", o.clients,
		idleTimeout, o.measure, (after.server - before.server).Seconds(), (after.own - before.own).Seconds(),
		float64(after.packets-before.packets)/o.measure.Seconds())
	return ctx.Err()
}

// spent is processor time, and what a server has received.
type spent struct {
	server, own time.Duration
	packets     int
}

func spentBy(ctx context.Context, server *rig.Server) (s spent, err error) {
	if s.server, err = processorTime(server.PID()); err != nil {
		return s, err
	}
	if s.own, err = processorTime(os.Getpid()); err != nil {
		return s, err
	}
	metrics, err := server.Address().Mntr(ctx)
	if err != nil {
		return s, err
	}
	s.packets, err = strconv.Atoi(metrics["zk_packets_received"])
	return s, err
}

// Fields of /proc/PID/stat behind the name of the program (proc_pid_stat(5)): utime and stime, in hundredths of a second.
const (
	userField   = 14 - 3
	systemField = 15 - 3
	clockTick   = 10 * time.Millisecond
)

// processorTime gives what a process has used. It is for Linux.
func processorTime(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("cost: processor time: %w", err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) <= systemField {
		return 0, fmt.Errorf("cost: processor time of process %d: %w", pid, syscall.EINVAL)
	}
	var ticks time.Duration
	for _, field := range []string{fields[userField], fields[systemField]} {
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, fmt.Errorf("cost: processor time of process %d: %w", pid, err)
		}
		ticks += time.Duration(n)
	}
	return ticks * clockTick, nil
}
