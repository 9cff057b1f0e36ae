package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of times in /proc on every Linux that Go runs on (USER_HZ).
const clockTick = 10 * time.Millisecond

// processor is how much processor time the servers have used, all together, on Linux.
func (s *stage) processor() (time.Duration, error) {
	var sum time.Duration
	for _, pid := range s.pids {
		used, err := processorOf(pid)
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}

// processorOf reads utime and stime of a process: fields 14 and 15, counted behind the name, which may contain anything.
func processorOf(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("bench: processor time: %w", err)
	}
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	if len(fields) < 13 {
		return 0, fmt.Errorf("bench: processor time of %d: %q", pid, text)
	}
	var ticks int64
	for _, field := range fields[11:13] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("bench: processor time of %d: %w", pid, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}
