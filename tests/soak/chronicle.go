package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

const (
	// settleTime is after what time nothing more is said of a grant: longer than a process is stopped,
	// and than Unlock takes.
	settleTime = 2 * time.Minute
	// settleMargin leaves room for grants that were reported late.
	settleMargin = 30 * time.Second
	// windowLeast is the least number of grants of a window that is cut.
	windowLeast = 100
	// checkPatience bounds the check of a window.
	checkPatience = 30 * time.Second
)

// chronicle collects the histories of all locks, and checks them while the soak goes on.
type chronicle struct {
	judge  *judge
	accuse func(kind, format string, args ...any)
	folder string // "": histories are not kept

	pending   [][]*grant // of each lock, by token
	windows   int
	undecided int
	struck    int // windows that an operator's delete is part of, which are not judged
	files     []*os.File
}

func newChronicle(j *judge, folder string, accuse func(kind, format string, args ...any)) (*chronicle, error) {
	c := &chronicle{judge: j, accuse: accuse, folder: folder, pending: make([][]*grant, len(j.locks))}
	if folder == "" {
		return c, nil
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("soak: -history: %w", err)
	}
	for n := range j.locks {
		file, err := os.Create(filepath.Join(folder, fmt.Sprintf("lock-%d.txt", n)))
		if err != nil {
			c.close()
			return nil, fmt.Errorf("soak: -history: %w", err)
		}
		c.files = append(c.files, file)
	}
	return c, nil
}

// run checks what is settled, until ctx ends.
func (c *chronicle) run(ctx context.Context, done *sync.WaitGroup) {
	done.Go(func() {
		for rig.Rest(ctx, 10*time.Second) {
			c.take(now() - int64(settleTime))
			c.checkAll(now()-int64(settleTime+settleMargin), windowLeast)
		}
	})
}

// finish checks all that is left. Nothing may be reported any more.
func (c *chronicle) finish() {
	c.take(now())
	c.checkAll(now(), windowLeast)
	for lock := range c.pending {
		c.window(lock, c.pending[lock])
		c.pending[lock] = nil
	}
}

func (c *chronicle) take(before int64) {
	c.judge.mu.Lock()
	defer c.judge.mu.Unlock()
	for n, l := range c.judge.locks {
		for _, g := range l.takeSettled(before) {
			if g.mode == exclusive { // others may hold together, and do not write
				c.pending[n] = append(c.pending[n], g)
			}
		}
	}
}

// checkAll cuts windows off what was granted before an instant.
func (c *chronicle) checkAll(before int64, least int) {
	for lock := range c.pending {
		grants := c.pending[lock]
		slices.SortStableFunc(grants, func(a, b *grant) int { return cmp.Compare(a.token, b.token) })
		n := 0
		for n < len(grants) && grants[n].at < before {
			n++
		}
		windows, left := cut(grants[:n], least)
		for _, w := range windows {
			c.window(lock, w)
		}
		c.pending[lock] = append(append([]*grant(nil), left...), grants[n:]...)
	}
}

// window checks one and writes it down.
func (c *chronicle) window(lock int, window []*grant) {
	if len(window) == 0 {
		return
	}
	if slices.ContainsFunc(window, func(g *grant) bool { return g.struck }) {
		c.struck++
		return
	}
	c.windows++
	verdict := check(window, checkPatience)
	switch verdict {
	case porcupine.Illegal:
		c.accuse(notLinearizing, "lock %d, tokens %d to %d:\n%s", lock, window[0].token, window[len(window)-1].token, describe(window))
	case porcupine.Unknown:
		c.undecided++
	}
	if c.files == nil {
		return
	}
	out := bufio.NewWriter(c.files[lock])
	fmt.Fprintf(out, "# window: %v\n%s", verdict, describe(window))
	if err := out.Flush(); err != nil {
		c.accuse(notLinearizing, "history of lock %d cannot be kept: %v", lock, err)
	}
}

func (c *chronicle) close() {
	for _, file := range c.files {
		_ = file.Close()
	}
}

// describe writes a history compactly: a line for each grant, with its writes.
func describe(window []*grant) string {
	var b strings.Builder
	for _, g := range window {
		fmt.Fprintf(&b, "token=%d by=%d.%d.%d call=%d at=%d end=%d released=%d unlocked=%d", g.token, g.by.Client,
			g.by.Incarnation, g.by.Worker, g.call, g.at, g.end, g.released, g.unlockReturn)
		if g.lost {
			b.WriteString(" lost")
		}
		for _, w := range g.writes {
			fmt.Fprintf(&b, " %d-%d:%t", w.call, w.at, w.ok)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
