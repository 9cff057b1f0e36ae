package interop

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// A reader of kazoo's waits for the last writer before it. Before 2.9 it waited for the last writer of the
// queue, also for one behind it, which waits for it in turn. Here those writers are nodes of nobody's.
func TestKazooReaderPassesOverAWriterBehindIt(t *testing.T) {
	eachServer(t, func(t *testing.T, s *server) {
		witness := StartWitness(t)
		job := Job{Name: "kazoo", Recipe: Read, Connect: s.addr, Path: "/mended/reader", Witness: witness.Addr()}
		s.make(t, job.Path)
		before := s.sequential(t, job.Path, "0af3__lock__")
		reader := start(t, kazooed.Get(t), job)
		s.awaitCount(t, job.Path, 2)
		s.awaitWatches(t, 1)
		behind := s.sequential(t, job.Path, "0af4__lock__")
		require.Empty(t, witness.Entries(), "there is a writer before it")

		require.NoError(t, s.conn.Delete(before, -1))
		reader.wait(t)
		require.Len(t, witness.Entries(), 1)
		require.NoError(t, s.conn.Delete(behind, -1))
		s.requireEmpty(t, job.Path)
	})
}

// sequential makes an ephemeral node as locks do.
func (s *server) sequential(t *testing.T, path, prefix string) (node string) {
	t.Helper()
	flags := int32(zk.FlagEphemeral | zk.FlagSequence)
	node, err := s.conn.Create(path+"/"+prefix, nil, flags, zk.WorldACL(zk.PermAll))
	require.NoError(t, err)
	return node
}

// awaitWatches waits until clients have so many watches on the server, of which no event tells.
func (s *server) awaitWatches(t *testing.T, count int) {
	t.Helper()
	ctx := deadline(t)
	require.Eventually(t, func() bool {
		watches, err := rig.Address(s.addr).Watches(ctx)
		return err == nil && watches == count
	}, bound, 10*time.Millisecond, "there never were %d watches", count)
}
