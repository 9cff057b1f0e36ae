package queue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/messages"
)

// PossibleDeadlocks finds what would be deadlocks if processes stood still as a whole: a process that
// waits behind a lock that it holds itself, as when it is locked again without the context of its
// lease, and processes that wait for each other's. Each is a deadlock if those that hold wait for those
// that wait, which no node says; with several workers in a process that need not be so. What
// [Deadlocks] finds is left out, and so is whatever has a part in it.
//
// It goes by the rules of Deadlocks, with processes in the place of owners. A process that waits for
// several locks, or several times for one, may do so with several workers: only what it holds is taken to
// stand still. A process that holds some
// of a semaphore's permits and waits for more of them is what semaphores are for, and is none. Those
// that wait in a cohort, without nodes, are left out for the same reason. Whoever shares a hold does
// not wait: readers, and holds that were taken WithReentry.
func PossibleDeadlocks(locks []LockPath) []messages.Deadlock {
	part := map[string]bool{}
	for _, d := range Deadlocks(locks) {
		for _, m := range d.Members {
			part[m.Keeps.At()], part[m.Waits.At()] = true, true
		}
	}
	told := map[string]bool{}
	s := &standstill{waiting: map[string][]*waiter{}, holders: true}
	return slices.DeleteFunc(s.search(byProcess(locks)), func(d messages.Deadlock) bool {
		var members []string
		for _, m := range d.Members {
			members = append(members, fmt.Sprintln(m.Who, m.Keeps.At(), m.Waits.Path, m.Waits.Name))
			if part[m.Keeps.At()] || part[m.Waits.At()] {
				return true
			}
		}
		slices.Sort(members)
		circle := strings.Join(members, "")
		known := told[circle] // of those that wait in one process for one lock the oldest is named
		told[circle] = true
		return known || sharesPermits(d)
	})
}

// byProcess is a copy of lock paths in which it is processes that stand still.
func byProcess(locks []LockPath) []LockPath {
	all := slices.Clone(locks)
	for i := range all {
		all[i].Waiting = nil
		all[i].Contenders = slices.Clone(all[i].Contenders)
		for at := range all[i].Contenders {
			c := &all[i].Contenders[at]
			c.Who = processOf(*c)
		}
	}
	return all
}

// processOf names the process of a contender: by its session where the node does not say it; "" where it is not
// known whose the node was all the time.
func processOf(c messages.Contender) string {
	switch {
	case c.Host != "" && c.Who == "":
		return ""
	case c.Host == "" && c.Session == 0: // it may not be read
		return ""
	case c.Host != "":
		return fmt.Sprintf("process %d on %s", c.PID, c.Host)
	}
	return fmt.Sprintf("session 0x%x", c.Session)
}

// sharesPermits tells whether one process waits for permits of a semaphore of which it has some.
func sharesPermits(d messages.Deadlock) bool {
	first := d.Members[0].Waits
	return !slices.ContainsFunc(d.Members, func(m messages.Member) bool {
		return m.Waits.Mode != messages.Semaphore || m.Waits.Path != first.Path || m.Keeps.Path != first.Path
	})
}
