package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// beats is how many transactions are timed.
const beats = 10

// roundTrips is how long transactions took, and by how much the server's clock is ahead of ours.
type roundTrips struct {
	all   []time.Duration
	ahead time.Duration
	slack time.Duration // by how much that may be wrong
}

// writeAndRead does what a lock does: it makes a node, reads it back, commits a few transactions, and deletes the node.
// A server that does not answer is not waited for longer than it may take to connect.
func (e *examination) writeAndRead(ctx context.Context, conn *zkconn.Conn) (roundTrips, bool) {
	type result struct {
		trips roundTrips
		ok    bool
	}
	done := make(chan result, 1)
	findings := make(chan func(), 16)
	go func() {
		defer close(findings)
		trips, ok := e.operate(conn, func(note func()) { findings <- note })
		done <- result{trips, ok}
	}()
	limit := time.NewTimer(e.timeout)
	defer limit.Stop()
	for {
		select {
		case note, more := <-findings:
			if !more {
				r := <-done
				return r.trips, r.ok
			}
			note()
		case <-limit.C:
			e.note(broken, "write and read", "look at the servers' load, disks and logs", "no answer within %v",
				e.timeout)
			return roundTrips{}, false
		case <-ctx.Done():
			return roundTrips{}, false
		}
	}
}

// operate is what writeAndRead does; later carries a note out on the goroutine that notes.
func (e *examination) operate(conn *zkconn.Conn, later func(func())) (trips roundTrips, ok bool) {
	fail := func(what string, err error) (roundTrips, bool) {
		later(func() { e.note(broken, what, advice(err), "%s", short(err)) })
		return roundTrips{}, false
	}
	if err := conn.EnsureParents(e.path); err != nil {
		return fail("write", err)
	}
	wrote := []byte("written by zklock doctor at " + time.Now().Format(time.RFC3339Nano))
	before := time.Now()
	made, err := conn.CreatePlain(e.path, "doctor-", wrote)
	if err != nil {
		return fail("write", err)
	}
	created := time.Since(before)
	node := e.path + "/" + made.Name
	later(func() { e.note(fine, "write", "", "made %s in %v", node, round(created)) })
	read, stat, err := conn.Get(node)
	switch {
	case err != nil:
		return fail("read back", err)
	case !bytes.Equal(read, wrote):
		later(func() {
			e.note(broken, "read back", "something between here and the servers changes what is written",
				"%d bytes were written and other %d bytes read", len(wrote), len(read))
		})
	default:
		later(func() { e.note(fine, "read back", "", "%d bytes, as written", len(read)) })
	}
	// The server stamped the node between the two moments, if its clock is ours.
	trips.ahead, trips.slack = stat.Ctime.Sub(before.Add(created/2)), created/2+time.Millisecond
	for range beats {
		sent := time.Now()
		if _, err := conn.Heartbeat(node); err != nil {
			return fail("transactions", err)
		}
		trips.all = append(trips.all, time.Since(sent))
	}
	if _, err := conn.Delete(node); err != nil {
		return fail("delete", err)
	}
	// What is above it may be somebody's, and is left alone; where it was made it is a container, which the server
	// reaps.
	later(func() { e.note(fine, "delete", "", "%s is gone", node) })
	return trips, true
}

// judgeMargin compares what a transaction takes with what there is time for.
func (e *examination) judgeMargin(granted time.Duration, trips roundTrips) {
	lease := time.Duration(zkconn.SteadyLease * float64(granted))
	beat := granted / 6
	slices.Sort(trips.all)
	worst, median := trips.all[len(trips.all)-1], trips.all[len(trips.all)/2]
	margin := lease - beat - worst
	found := fmt.Sprintf("a transaction takes %v, at worst %v; a lease of %v, renewed every %v, has %v to "+
		"spare", round(median), round(worst), round(lease), round(beat), round(margin))
	switch {
	case margin <= 0:
		e.note(broken, "clock margin",
			"leases will end while they are needed: ask for a longer --session-timeout, or mend the network "+
				"or the servers' disks", "%s", found)
	case margin < lease/4:
		e.note(odd, "clock margin",
			"a pause of the servers or the network that is longer loses locks: ask for a longer "+
				"--session-timeout", "%s", found)
	default:
		e.note(fine, "clock margin", "", "%s", found)
	}
	apart, whose := trips.ahead, "ahead of"
	if apart < 0 {
		apart, whose = -apart, "behind"
	}
	if apart > trips.slack+time.Second {
		e.note(odd, "clocks",
			"locks do not depend on it, but the times that zklock queue shows do: set the clocks by NTP",
			"the server's clock is %v %s ours", round(apart), whose)
		return
	}
	e.note(fine, "clocks", "", "the server's clock is within %v of ours", round(apart+trips.slack))
}

// round is a duration that can be read.
func round(d time.Duration) time.Duration {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(time.Microsecond)
}
