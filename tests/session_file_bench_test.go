package tests

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// BenchmarkRestart kills a holder's process and starts it again with its session file, and measures until it holds: in
// milliseconds, from the start of the process and from the opening of its client in it. The session timeout is 30 s.
// Run it with -benchtime 20x.
func BenchmarkRestart(b *testing.B) {
	for _, kind := range kinds {
		b.Run(kind.name, func(b *testing.B) {
			kind.require(b)
			kind.once.Do(func() { kind.ran, kind.stop, kind.err = kind.start() })
			require.NoError(b, kind.err)
			at := &servers{members: kind.ran}
			r := restarter{Connect: at.Connect(), Path: fmt.Sprintf("/restart-%d", chroots.Add(1)), File: sessionFile(b)}
			p := start(b, r)
			p.holds(b)
			var open, whole []time.Duration
			for range b.N {
				require.NoError(b, p.Kill())
				begin := time.Now()
				p = start(b, r)
				_, _, took := p.holds(b)
				require.Equal(b, []string{closedPredecessor}, p.log)
				whole, open = append(whole, time.Since(begin)), append(open, took)
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(middle(whole).Seconds()*1000, "ms-process")
			b.ReportMetric(middle(open).Seconds()*1000, "ms-open")
			p.close(b)
		})
	}
}
