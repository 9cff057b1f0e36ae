package conformance

import (
	"os"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// BenchmarkEmbeddedAgainstReal measures the same cycle of a create and a delete, through go-zookeeper over
// TCP, on the embedded server and on a real one that keeps its files in memory, where the system has a folder for that.
// The two take turns, so that what else the machine does meets both. Java compiles what runs often: the last turn counts.
func BenchmarkEmbeddedAgainstReal(b *testing.B) {
	rig.Require(b)
	const memory = "/dev/shm"
	if _, err := os.Stat(memory); err == nil {
		b.Setenv("TMPDIR", memory)
	}
	conns := map[string]*zk.Conn{
		"embedded": scene.Raw(b, scene.Session, embedded.Run(b).Addr()),
		"real":     scene.Raw(b, scene.Session, rig.StartStandalone(b).Addr()),
	}
	for range 5 {
		for name, conn := range conns {
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					_, err := conn.Create("/speed", nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll))
					require.NoError(b, err)
					require.NoError(b, conn.Delete("/speed", -1))
				}
			})
		}
	}
}
