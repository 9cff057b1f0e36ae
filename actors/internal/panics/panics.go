// Package panics logs what actors recover from.
package panics

import (
	"log/slog"
	"runtime/debug"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// Log logs a panic that was recovered, with the stack. The logger is the caller's and may be what
// panicked: then nothing is logged, for a panic that leaves Receive makes protoactor start the actor
// again without its state.
func Log(log *slog.Logger, text string, r any, args ...any) {
	defer func() { _ = recover() }()
	log.Error(text, append(args, logkeys.Panic, r, logkeys.Stack, string(debug.Stack()))...)
}
