package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// clocks are the processes whose processor time a measurement counts, by their numbers.
type clocks struct{ clients, servers []int }

// clocks gives the clocks of a measurement: the clients', which are this process where no other is named, and the servers'.
func (t trial) clocks(clients ...int) clocks {
	if len(clients) == 0 {
		clients = []int{os.Getpid()}
	}
	return clocks{clients, t.stage.pids}
}

// spent is the processor time that processes have used.
type spent struct{ clients, servers time.Duration }

func (c clocks) read() (spent, error) {
	clients, err := processorOf(c.clients)
	servers, err2 := processorOf(c.servers)
	return spent{clients, servers}, errors.Join(err, err2)
}

func (c clocks) since(before spent) (spent, error) {
	now, err := c.read()
	return spent{now.clients - before.clients, now.servers - before.servers}, err
}

// processorMetrics are the figures of the processor time of a grant.
func processorMetrics(per string) []metric {
	return []metric{{"client-cpu", "µs/" + per, less}, {"server-cpu", "µs/" + per, neither}}
}

// put adds them to the figures of a workload. No time means that it is not known, as on other systems than Linux, and for servers
// in this process.
func (s spent) put(found figures, grants int) {
	for key, used := range map[string]time.Duration{"client-cpu": s.clients, "server-cpu": s.servers} {
		if used > 0 {
			found[key] = micros(used) / float64(grants)
		}
	}
}

// processorOf sums what processes have used; it is 0 where the system is not Linux. The kernel has a clock for each that counts
// nanoseconds; /proc has the same in ticks of 10 ms. Its number is made as by MAKE_PROCESS_CPUCLOCK of Linux, for CPUCLOCK_SCHED.
func processorOf(pids []int) (sum time.Duration, err error) {
	for _, pid := range pids {
		var used unix.Timespec
		if runtime.GOOS != "linux" {
			return 0, nil
		}
		if err := unix.ClockGettime(^int32(pid)<<3|2, &used); err != nil {
			return 0, fmt.Errorf("bench: processor time of process %d: %w", pid, err)
		}
		sum += time.Duration(used.Nano())
	}
	return sum, nil
}
