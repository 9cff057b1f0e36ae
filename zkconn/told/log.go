package told

import (
	"context"
	"log/slog"
	"runtime/debug"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// Log writes log lines from a queue, so that no handler holds anybody up.
type Log struct{ *Queue[record] }

type record struct {
	slog.Record
	to  slog.Handler
	ctx context.Context
}

// NewLog makes the queue of a log.
func NewLog() Log {
	return Log{NewQueue(Most, func(r record) {
		_ = r.to.Handle(r.ctx, r.Record) // where would its error be logged?
	}, nil)}
}

// Logger gives a logger whose records go to another one's handler through the queue. The handler is
// asked for levels, attributes and groups on the caller's goroutine. A logger that has a queue is
// returned as it is.
func (l Log) Logger(to *slog.Logger) *slog.Logger {
	if _, queues := to.Handler().(handler); queues {
		return to
	}
	return slog.New(handler{l, to.Handler()})
}

type handler struct {
	log Log
	to  slog.Handler
}

// Enabled asks the handler; false where that panics.
func (h handler) Enabled(ctx context.Context, level slog.Level) bool {
	return ask(h, func() bool { return h.to.Enabled(ctx, level) }, false)
}

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	h.log.Tell(record{r.Clone(), h.to, context.WithoutCancel(ctx)})
	return nil
}

// WithAttrs gives the handler with attributes; without them where that panics.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.log, ask(h, func() slog.Handler { return h.to.WithAttrs(attrs) }, h.to)}
}

// WithGroup gives the handler with a group; without it where that panics.
func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.log, ask(h, func() slog.Handler { return h.to.WithGroup(name) }, h.to)}
}

func ask[T any](h handler, ask func() T, otherwise T) (answer T) {
	defer func() {
		if recover() != nil {
			h.log.count()
			answer = otherwise
		}
	}()
	return ask()
}

// LogPanic logs a recovered panic, with the stack; nothing where the logger panics itself.
func LogPanic(log *slog.Logger, text string, r any, args ...any) {
	defer func() { _ = recover() }()
	log.Error(text, append(args, logkeys.Panic, r, logkeys.Stack, string(debug.Stack()))...)
}
