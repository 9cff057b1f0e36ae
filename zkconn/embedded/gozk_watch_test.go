package embedded_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// resets counts the requests that set watches again.
func resets(t testing.TB, s *embedded.Server) *embedded.Injection {
	t.Helper()
	counted, err := s.Inject(embedded.Fault{Op: embedded.OpSetWatches, Count: -1, Action: embedded.Pass})
	require.NoError(t, err)
	return counted
}

func awaitHit(t testing.TB, i *embedded.Injection) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(t, i.Wait(ctx))
}

// A client splits what it watches into packets of 128 KiB.
func TestGozkSetsWatchesInSeveralPackets(t *testing.T) {
	const paths = 300
	s := embedded.Run(t)
	c, other := dialGozk(t, s), dialGozk(t, s)
	path := func(i int) string { return fmt.Sprintf("/%s%d", strings.Repeat("long", 400), i) }
	var events []<-chan zk.Event
	for i := range paths {
		_, _, e, err := c.ExistsW(path(i))
		require.NoError(t, err)
		events = append(events, e)
	}
	again := resets(t, s)
	mend := c.cut(s)
	for i := range paths / 2 {
		other.make(path(i), 0)
	}
	mend()
	for i := range paths {
		if i >= paths/2 {
			other.make(path(i), 0)
		}
		require.Equal(t, zk.Event{Type: zk.EventNodeCreated, State: 3, Path: path(i)}, next(t, events[i]))
	}
	// The last packet may be on its way still, where its watches' nodes have been made already.
	awaitHit(t, again)
	require.Eventually(t, func() bool { return again.Hits() == 4 }, patience, 1e6)
}

func TestGozkManyWatches(t *testing.T) {
	const nodes = 1000
	s := embedded.Run(t)
	c, other := dialGozk(t, s), dialGozk(t, s)
	var events []<-chan zk.Event
	for i := range nodes {
		path := fmt.Sprintf("/n%d", i)
		other.make(path, zk.FlagEphemeral)
		_, _, data, err := c.GetW(path)
		require.NoError(t, err)
		_, _, children, err := c.ChildrenW(path)
		require.NoError(t, err)
		events = append(events, data, children)
	}
	other.Close() // its nodes go, all at once
	for _, e := range events {
		require.Equal(t, zk.EventNodeDeleted, next(t, e).Type)
	}
	require.Equal(t, "0", mntr(t, s)["zk_watch_count"])
}
