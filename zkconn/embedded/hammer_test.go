package embedded_test

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// crowd is several clients that work on one path at once, and what they have counted.
type crowd struct {
	writes  atomic.Int64 // requests that take a zxid, refused ones too
	creates atomic.Int64 // nodes made below the path
	mu      sync.Mutex
	names   map[string]int // how often each was given out
	left    int            // nodes that are still there
}

func (c *crowd) made(paths ...string) {
	c.creates.Add(int64(len(paths)))
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, path := range paths {
		c.names[path]++
	}
	c.left += len(paths)
}

func (c *crowd) deleted() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left--
}

var anyone = zk.WorldACL(zk.PermAll)

// work has one client create, delete and do both in multis, good ones and bad ones.
func (c *crowd) work(conn *zk.Conn, rounds int) error {
	for i := range rounds {
		c.writes.Add(1)
		path, err := conn.Create("/p/n-", []byte("x"), zk.FlagEphemeral|zk.FlagSequence, anyone)
		if err != nil {
			return fmt.Errorf("create: %w", err)
		}
		c.made(path)
		c.writes.Add(1)
		create := &zk.CreateRequest{Path: "/p/n-", Acl: anyone, Flags: zk.FlagEphemeral | zk.FlagSequence}
		parts := []any{create, &zk.DeleteRequest{Path: path, Version: -1}, create, &zk.SetDataRequest{Path: "/p", Version: -1}}
		if i%3 == 0 { // this one fails as a whole, and takes its creates back
			parts = append(parts, &zk.CheckVersionRequest{Path: "/missing", Version: -1})
		}
		results, err := conn.Multi(parts...)
		switch {
		case i%3 == 0 && !errors.Is(err, zk.ErrNoNode):
			return fmt.Errorf("bad multi: %w", err)
		case i%3 == 0:
			continue
		case err != nil:
			return fmt.Errorf("multi: %w", err)
		}
		c.deleted()
		c.made(results[0].String, results[2].String)
		if results[3].Stat.Mzxid == 0 {
			return errors.New("a multi without a zxid")
		}
		c.writes.Add(1)
		if err := conn.Delete(results[0].String, 0); err != nil {
			return fmt.Errorf("delete: %w", err)
		}
		c.deleted()
	}
	return nil
}

// Eight clients work on one path at once. Every number is given out once and none is left out, refused
// multis leave nothing but their zxid, and all replicas agree in the end.
func TestManyClientsOnOnePath(t *testing.T) {
	for name, opts := range map[string][]embedded.Option{
		"memory":   {embedded.WithoutNetwork()},
		"network":  nil,
		"replicas": threeReplicas,
	} {
		t.Run(name, func(t *testing.T) {
			const clients, rounds = 8, 40
			s := embedded.Run(t, opts...)
			observer := openRaw(t, s, 0, time.Minute)
			observer.create("/p", plain)
			c := crowd{names: map[string]int{}}
			var conns []*zk.Conn
			for i := range clients {
				conn, states := goZK(t, s, time.Minute, i%len(s.Replicas()))
				awaitState(t, states, zk.StateHasSession)
				conns = append(conns, conn)
			}
			before := observer.call(embedded.OpPing).zxid
			var all sync.WaitGroup
			for _, conn := range conns {
				all.Go(func() {
					if err := c.work(conn, rounds); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			require.False(t, t.Failed())
			c.check(t, s, before)
			for _, conn := range conns {
				conn.Close()
			}
			until(t, func() bool { return len(s.Sessions()) == 1+len(s.Replicas()) }) // the observers
			require.Empty(t, observer.children("/p"))
		})
	}
}

func (c *crowd) check(t *testing.T, s *embedded.Server, before int64) {
	t.Helper()
	require.Len(t, c.names, int(c.creates.Load()), "no name twice")
	for i := range int(c.creates.Load()) {
		require.Contains(t, c.names, fmt.Sprintf("/p/n-%010d", i), "no number left out")
	}
	for i := range s.Replicas() {
		reader := openRaw(t, s, i, time.Minute)
		p := reader.stat("/p")
		require.Equal(t, int32(c.left), p.children)
		require.Len(t, reader.children("/p"), c.left)
		require.Equal(t, 2*int32(c.creates.Load())-int32(c.left), p.cversion)
		require.Equal(t, before+c.writes.Load()+int64(i)+1, reader.call(embedded.OpPing).zxid, "one zxid a write, and a session")
		require.Equal(t, c.left, monitored(t, s, i, "ephemerals_count"))
	}
}
