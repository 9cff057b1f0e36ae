package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

const (
	// patience is the time before zklock says that it waits.
	patience = 300 * time.Millisecond
	// lookEvery is the pause between two readings of the queue for the progress line: each costs
	// the servers a read for each contender.
	lookEvery = 2 * time.Second
)

// showProgress draws a line on the terminal while the lock is waited for, and wipes it out when
// stop is called. It draws nothing where standard error is no terminal, and while zklock is a job
// in the background.
func showProgress(ctx context.Context, client *locks.Client, path string) (stop func()) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &progress{path: path, session: client.Session().ID, begun: time.Now()}
	var both sync.WaitGroup
	both.Go(func() { p.look(ctx, client) })
	both.Go(func() { p.draw(ctx) })
	return func() { cancel(); both.Wait() }
}

// progress has the content of the line.
type progress struct {
	path    string
	session func() int64
	begun   time.Time

	mu    sync.Mutex
	queue []messages.Contender
	err   error
}

// look reads the queue now and then.
func (p *progress) look(ctx context.Context, client *locks.Client) {
	if !pause(ctx, patience/2) {
		return
	}
	for {
		within, cancel := context.WithTimeout(ctx, 2*lookEvery)
		queue, err := client.Queue(within, p.path)
		cancel()
		if ctx.Err() != nil {
			return
		}
		p.mu.Lock()
		p.queue, p.err = queue, err
		p.mu.Unlock()
		if !pause(ctx, lookEvery) {
			return
		}
	}
}

func (p *progress) draw(ctx context.Context) {
	if !pause(ctx, patience) {
		return
	}
	fd := int(os.Stderr.Fd())
	for drawn := false; ; {
		if inFront(fd) {
			width, _, err := term.GetSize(fd)
			if err != nil {
				width = 80
			}
			fmt.Fprintf(os.Stderr, "\r\x1b[K%s", cut(printable(p.line(time.Now())), width-1))
			drawn = true
		} else {
			drawn = false // the line is the shell's now
		}
		if !pause(ctx, time.Second/2) {
			if drawn && inFront(fd) {
				fmt.Fprint(os.Stderr, "\r\x1b[K")
			}
			return
		}
	}
}

// line is the line now.
func (p *progress) line(now time.Time) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	waited := "waiting " + span(now.Sub(p.begun)) + " for " + p.path
	if p.err != nil {
		return waited + " · ZooKeeper does not answer"
	}
	ours, before, holders := p.session(), 0, []messages.Contender(nil)
	found := false
	for _, c := range p.queue {
		if c.Session == ours {
			found = true
			break
		}
		before++
		if c.Holds {
			holders = append(holders, c)
		}
	}
	if !found || len(holders) == 0 {
		return waited
	}
	// A narrow terminal cuts off the end.
	held := who(holders[0])
	if len(holders) > 1 {
		held += fmt.Sprintf(" +%d", len(holders)-1)
	}
	held += ", asked " + ago(holders[0].Since, now) + " ago"
	if label := holders[0].Label; label != "" {
		held += " “" + label + "”"
	}
	return fmt.Sprintf("%s · %s in line · held by %s", waited, ordinal(before+1), held)
}

// pause is false when ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
