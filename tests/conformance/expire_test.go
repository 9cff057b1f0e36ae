package conformance

import (
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
)

// quick servers let sessions expire, and tidy up, while a test waits.
var quick = conditions{
	tick:     200 * time.Millisecond,
	shortest: 8 * time.Second, // longer than a busy machine stands still
	longest:  time.Minute,
	reap:     500 * time.Millisecond,
}

// expire leaves a session alone until it is gone, and lets another one watch. An expiry takes a
// transaction id, and nothing else happens meanwhile, so the next id that the watcher sees is the
// expiry's.
func (p *player) expire(o operation) []entry {
	watcher := int(o.number("by", 0))
	timeout := time.Duration(o.number("timeout", 0)) * time.Millisecond
	began := time.Now()
	var events []entry
	before := ""
	for {
		p.slots[watcher].wire.write(ping)
		out := p.await(watcher, nil)
		last := out[len(out)-1]
		events = append(events, out[:len(out)-1]...)
		if last.what != "pong" {
			return append(events, last)
		}
		now := last.fields[0].value
		if before == "" {
			before = now
		}
		if now != before || time.Since(began) > patience {
			sortEvents(events)
			events = append(events, last)
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	// The session was heard of just before at the latest. How much later than its timeout it
	// ends is a matter of ticks, and of the machine.
	early := time.Since(began) < timeout/2
	events = append(events, entry{session: o.session, what: "expired", fields: []shown{{"early", fmt.Sprint(early)}}})
	return append(events, p.awaitEnd(o.session)...)
}

// TestQuick is about what servers do on their own.
func TestQuick(t *testing.T) {
	t.Parallel()
	alone(quick).each(t, func(t *testing.T, s server) {
		recorded(t, "quick", func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "tidied" {
				return tidied(t, s)
			}
			return answerer(s)(t, d)
		})
	})
}
