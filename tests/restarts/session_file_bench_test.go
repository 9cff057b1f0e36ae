package restarts

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/stories"
)

// BenchmarkRestart kills a holder's process and starts it again with its session file, and measures until it holds: in
// milliseconds, from the start of the process and from the opening of its client in it. The session timeout is 30 s.
// Run it with -benchtime 20x.
func BenchmarkRestart(b *testing.B) {
	stories.EachServerOf(b, func(b *testing.B, at *stories.Servers) {
		r := restarter{Connect: at.Connect(), Path: "/restart", File: sessionFile(b)}
		p := start(b, r)
		p.holds(b)
		var open, whole []time.Duration
		for range b.N {
			require.NoError(b, p.Kill())
			begin := time.Now()
			p = start(b, r)
			_, _, took := p.holds(b)
			p.awaitLog(b, closedPredecessor)
			require.Len(b, p.log, 1)
			whole, open = append(whole, time.Since(begin)), append(open, took)
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(middle(whole).Seconds()*1000, "ms-process")
		b.ReportMetric(middle(open).Seconds()*1000, "ms-open")
		p.close(b)
	})
}
