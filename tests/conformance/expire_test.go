package conformance

import (
	"fmt"
	"testing"
	"time"
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

func TestExpiry(t *testing.T) {
	t.Parallel()
	p := pair{startReal(t, quick), startSubject(t, quick)}
	operations, err := parseOperations(`
		s0 create path=~/p
		s3 open timeout=8000
		s3 create path=~/e flags=1
		s3 create path=~/p/q flags=3
		s3 create path=~/p/q flags=3
		s1 exists path=~/e watch=true
		s1 getChildren path=~/p watch=true
		s1 exists path=~/p/q0000000001 watch=true
		s3 getEphemerals path=/
		s3 expire by=1 timeout=8000
		s3 reattach
		s0 getChildren2 path=~
		s0 getChildren2 path=~/p
		s3 open timeout=1
		s3 expire by=1 timeout=8000
		s3 reattach
	`)
	if err != nil {
		t.Fatal(err)
	}
	d, answers, err := p.differ(operations)
	if err != nil {
		t.Fatal(err)
	}
	if d != nil {
		t.Errorf("%s\nthe reference answered\n%s", d, answers)
	}
}
