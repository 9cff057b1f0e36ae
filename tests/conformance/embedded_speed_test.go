package conformance

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// memory is a folder whose files are in memory, on Linux. Elsewhere a server uses the default
// folder.
const memory = "/dev/shm"

// BenchmarkEmbeddedAgainstReal measures the same cycle of a create and a delete, through go-zookeeper over
// TCP, on the embedded server and on a real one that keeps its files in memory. The two take turns, so that
// what else the machine does meets both.
func BenchmarkEmbeddedAgainstReal(b *testing.B) {
	const rounds, cycles = 7, 1500
	rig.Require(b)
	if _, err := os.Stat(memory); err == nil {
		b.Setenv("TMPDIR", memory)
	}
	ours := connectTo(b, embedded.Run(b).Addr())
	theirs := connectTo(b, rig.StartStandalone(b).Addr())
	measure(b, ours, cycles)
	measure(b, theirs, 5*cycles) // Java compiles what runs often
	for b.Loop() {
		var embeddedTook, realTook []time.Duration
		for range rounds {
			embeddedTook = append(embeddedTook, measure(b, ours, cycles))
			realTook = append(realTook, measure(b, theirs, cycles))
		}
		mine, other := median(embeddedTook)/cycles, median(realTook)/cycles
		b.Logf("a cycle takes %v on the embedded server and %v on a real one", mine, other)
		b.ReportMetric(0, "ns/op") // which would be of both
		b.ReportMetric(float64(mine.Nanoseconds()), "embedded-ns/cycle")
		b.ReportMetric(float64(other.Nanoseconds()), "real-ns/cycle")
		b.ReportMetric(float64(other)/float64(mine), "times-as-fast")
	}
}

func connectTo(b *testing.B, addr string) *zk.Conn {
	conn, events, err := zk.Connect([]string{addr}, 10*time.Second, zk.WithLogInfo(false))
	require.NoError(b, err)
	b.Cleanup(func() {
		conn.Close()
		for range events { // its goroutines have ended when the channel is closed
		}
	})
	return conn
}

// measure gives the time that some cycles take.
func measure(b *testing.B, conn *zk.Conn, cycles int) time.Duration {
	begin := time.Now()
	for range cycles {
		_, err := conn.Create("/speed", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
		require.NoError(b, err)
		require.NoError(b, conn.Delete("/speed", -1))
	}
	return time.Since(begin)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}
