package told

import (
	"context"
	"log/slog"
	"runtime/debug"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// Log is the queue of what is logged. Its methods may be called from any goroutine.
type Log struct{ *Queue[record] }

// record is a record, and the handler that it is for.
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

// Logger gives a logger whose records go to another one's handler, by way of the queue. The handler is asked on the caller's
// goroutine whether a level is enabled, and for attributes and groups. A logger that has a queue is returned as it is.
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

// Enabled asks the handler. A level is not enabled where that panics.
func (h handler) Enabled(ctx context.Context, level slog.Level) bool {
	return ask(h, func() bool { return h.to.Enabled(ctx, level) }, false)
}

// Handle queues a record.
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

// ask asks the handler. A panic is counted.
func ask[T any](h handler, ask func() T, otherwise T) (answer T) {
	defer func() {
		if recover() != nil {
			h.log.count()
			answer = otherwise
		}
	}()
	return ask()
}

// LogPanic logs a panic that was recovered, with the stack. A logger of the user's may panic itself: then nothing is logged.
func LogPanic(log *slog.Logger, text string, r any, args ...any) {
	defer func() { _ = recover() }()
	log.Error(text, append(args, logkeys.Panic, r, logkeys.Stack, string(debug.Stack()))...)
}
