package embedded_test

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// BenchmarkCreateDelete has one client of go-zookeeper's create a node and delete it, over TCP, one request
// after the other.
func BenchmarkCreateDelete(b *testing.B) {
	c := dialGozk(b, embedded.Run(b))
	for b.Loop() {
		cycle(b, c, "/a")
	}
}

// BenchmarkCreateDeleteWithoutNetwork is the same without TCP.
func BenchmarkCreateDeleteWithoutNetwork(b *testing.B) {
	s := embedded.Run(b, embedded.WithoutNetwork())
	conn, events, err := zk.Connect([]string{s.Addr()}, patience, zk.WithLogger(mute{}), zk.WithDialer(s.Dialer()))
	require.NoError(b, err)
	defer func() {
		conn.Close()
		for range events {
		}
	}()
	c := &gozk{Conn: conn}
	for b.Loop() {
		cycle(b, c, "/a")
	}
}

// BenchmarkCreateDeleteParallel has 64 goroutines share eight clients, each goroutine with a node of its own.
func BenchmarkCreateDeleteParallel(b *testing.B) {
	const goroutines = 64
	s := embedded.Run(b)
	var clients []*gozk
	for range 8 {
		clients = append(clients, dialGozk(b, s))
	}
	var number atomic.Int32
	b.SetParallelism((goroutines + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		n := int(number.Add(1))
		c, path := clients[n%len(clients)], fmt.Sprintf("/n%d", n)
		for pb.Next() {
			cycle(b, c, path)
		}
	})
}

func cycle(b *testing.B, c *gozk, path string) {
	if _, err := c.Create(path, nil, zk.FlagEphemeral, worldACL); err != nil {
		b.Error(err)
	}
	if err := c.Delete(path, all); err != nil {
		b.Error(err)
	}
}
