package scene

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/turnstile-locks/turnstile/locks"
)

// Log keeps what a client logs. It is a handler for a logger.
type Log struct {
	slog.Handler
	mu    sync.Mutex
	lines []string
}

// NewLog makes a log, and the option that has a client write to it.
func NewLog() (*Log, locks.Option) {
	h := &Log{Handler: slog.DiscardHandler}
	return h, locks.WithLogger(slog.New(h))
}

// Enabled is true of every level.
func (h *Log) Enabled(context.Context, slog.Level) bool { return true }

// WithAttrs forgets them.
func (h *Log) WithAttrs([]slog.Attr) slog.Handler { return h }

// Handle keeps a line: the message, and its attributes.
func (h *Log) Handle(_ context.Context, r slog.Record) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	line := r.Message
	r.Attrs(func(a slog.Attr) bool { line += fmt.Sprintf(" %s=%v", a.Key, a.Value); return true })
	h.lines = append(h.lines, line)
	return nil
}

// Await waits until a line has a text: what a client logs goes by a queue.
func (h *Log) Await(t testing.TB, text string) {
	t.Helper()
	Eventually(t, func() bool { return h.Has(text) }, "nothing is logged of %q", text)
}

// Has reports whether a line has a text.
func (h *Log) Has(text string) bool { return h.Count(text) > 0 }

// Count tells how many lines have a text.
func (h *Log) Count(text string) (lines int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, line := range h.lines {
		if strings.Contains(line, text) {
			lines++
		}
	}
	return lines
}
