package touches

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// The zxid in the header of the reply to a create, alone or in a transaction, is the czxid of the new node: with six
// writers at the members of an ensemble, of which one lags, and whose leader changes meanwhile.
func TestHeaderHasTheCzxid(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	ctx := scene.Deadline(l.t)
	for _, path := range []string{"/plain", "/named"} {
		_, err := l.observer.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
	}
	const writers, changes = 6, 2
	var stop, compared atomic.Int64
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			for round := 0; stop.Load() == 0; round++ {
				compareBirths(ctx, t, l.Addrs(), fmt.Sprintf("%d-%d", i, round), &stop, &compared)
			}
		})
	}
	enough := func(more int64) {
		want := compared.Load() + more
		l.eventually("creates were compared", func() bool { return compared.Load() >= want })
	}
	lag := func() { l.Link(l.leader, l.follower).Delay(20 * time.Millisecond) }
	lag()
	enough(600)
	for range changes {
		require.NoError(t, l.leader.Restart(ctx))
		l.cast()
		lag()
		enough(600)
	}
	stop.Store(1)
	all.Wait()
	t.Logf("%d creates compared", compared.Load())
}

// compareBirths makes nodes in one session until the test stops, or the session ends with a leader.
func compareBirths(ctx context.Context, t *testing.T, servers, prefix string, stop, compared *atomic.Int64) {
	cfg, err := zkconn.NewConfig(servers, zkconn.WithSessionTimeout(scene.Session))
	if !assert.NoError(t, err) {
		return
	}
	conn, err := zkconn.Dial(cfg, 1, func(zkconn.Event) {})
	if !assert.NoError(t, err) {
		return
	}
	defer func() { _ = conn.Close() }()
	for n := 0; stop.Load() == 0 && ctx.Err() == nil; n++ {
		var made zkconn.Created
		path := "/plain"
		switch n % 3 {
		case 0:
			made, err = conn.CreatePlain(path, "x-"+prefix+"-", nil)
		case 1:
			path = "/named"
			made, err = conn.CreateNamed(path, fmt.Sprintf("%s-%d", prefix, n), nil, "")
		default:
			made, err = commitBirths(conn, path, prefix)
		}
		if errors.Is(err, zkconn.ErrClosed) {
			return
		}
		if err != nil { // nothing is known of it
			time.Sleep(10 * time.Millisecond)
			continue
		}
		stat, exists, err := conn.Exists(path + "/" + made.Name)
		if err != nil {
			continue
		}
		if !assert.True(t, exists) || !assert.Equal(t, stat.Czxid, made.Czxid) {
			return
		}
		compared.Add(1)
		if err := conn.Delete(path + "/" + made.Name); err != nil {
			continue
		}
	}
}

// commitBirths makes three nodes in one transaction, and gives the last of them.
func commitBirths(conn *zkconn.Conn, path, prefix string) (zkconn.Created, error) {
	var nodes []zkconn.NewNode
	for place := range 3 {
		nodes = append(nodes, zkconn.NewNode{Parent: path, Prefix: fmt.Sprintf("y-%s-%d-", prefix, place)})
	}
	made, err := conn.Commit(nodes, nil, nil, nil)
	if err != nil {
		return zkconn.Created{}, err
	}
	return made[2], nil
}
