package zkconn

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNothingAfterExpired: a session that is given up may be renewed at that moment, and one that ended in an answer
// still has its connection. Expired is the last that is told all the same.
func TestNothingAfterExpired(t *testing.T) {
	var told []EventKind
	s := &session{
		sink: func(e Event) { told = append(told, e.Kind) }, guard: &epochGuard{}, log: slog.New(slog.DiscardHandler),
		server: func() string { return "zk1" },
	}
	s.gained()
	s.over(nil)
	s.lost()
	s.gained()
	s.lapsed()
	s.over(errGivenUp)
	require.Equal(t, []EventKind{Connected, Expired}, told)
}
