package zkconn

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/turnstile-locks/turnstile/zkconn/logkeys"
)

// libraryLogger passes on what the library says; it tells servers, states and session numbers, never secrets. What is
// worth a warning is told by this package itself.
type libraryLogger struct{ to *slog.Logger }

func (l libraryLogger) Printf(format string, args ...any) {
	if l.to.Enabled(context.Background(), slog.LevelDebug) {
		l.to.Debug("zookeeper client library", logkeys.Text, fmt.Sprintf(format, args...))
	}
}
