package main

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// Servers compare digests of their trees with the leader's, transaction by transaction, and log when
// they differ. Then one of them has lost or invented a transaction: a bug of the servers. ZooKeeper 3.8.0
// has several (ZOOKEEPER-4785, 4837 and others), and a soak with partitions strikes them now and then.
// Clients of different members then see different queues, and no lock built on them can hold. So that
// ensemble's life is over: what is found until it has ended is counted apart, because it does not accuse the
// library, and the soak goes on with a new ensemble.

var digestLine = regexp.MustCompile(`(?m)^\S+ .*Digests are not matching\..*$`)

// replicas watches the logs of the servers for digests that differ.
type replicas struct {
	stage *stage
	seen  map[string]bool
}

// run looks every second until ctx ends: servers' logs are kept only in part.
func (r *replicas) run(ctx context.Context, done *sync.WaitGroup) {
	done.Go(func() {
		for rig.Rest(ctx, time.Second) {
			r.look()
		}
	})
}

func (r *replicas) look() {
	for n, member := range r.stage.ensemble.Members() {
		for _, text := range digestLine.FindAllString(member.Log(), -1) {
			if !r.seen[text] {
				r.seen[text] = true
				r.stage.judge.differ(loggedAt(text, time.Now()))
				r.stage.say("member %d: %s", n, text)
			}
		}
	}
}

// loggedAt gives when a server has written a line of its log, which begins with the time of day: within the last minute,
// because logs are looked at each second.
func loggedAt(line string, now time.Time) time.Time {
	word, _, _ := strings.Cut(line, " ")
	clock, err := time.ParseInLocation("15:04:05.000", word, now.Location())
	if err != nil {
		return now
	}
	at := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), clock.Second(), clock.Nanosecond(), now.Location())
	if at.After(now) { // of yesterday
		at = at.AddDate(0, 0, -1)
	}
	if now.Sub(at) > time.Minute {
		return now
	}
	return at
}

// differ notes that two servers have had different trees since. Their logs are looked at later: what was found meanwhile
// does not accuse the library either.
func (j *judge) differ(since time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.different++
	for _, f := range j.findings {
		f.tainted = f.tainted || f.at.After(since)
	}
	if j.differed != nil {
		j.differed()
	}
}
