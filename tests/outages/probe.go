package main

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// probe writes to the servers all the time, past the relays, to know when the machine or the servers are slow by
// themselves: then an outage says nothing of the client.
type probe struct {
	conn    *zk.Conn
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex
	begun  time.Time // of the write that is under way, with the pause before it
	writes []write
	err    error
}

// write is one write, with the pause before it, which is late when the machine is busy.
type write struct {
	begun time.Time
	took  time.Duration
}

// probeEvery is the pause between writes.
const probeEvery = 10 * time.Millisecond

const probePath = "/outages-probe"

func startProbe(servers []string) (*probe, error) {
	// go-zookeeper gives a dial one second, and then fails every request that waits. A busy machine
	// needs longer.
	dial := func(network, address string, _ time.Duration) (net.Conn, error) {
		return net.DialTimeout(network, address, time.Minute)
	}
	conn, events, err := zk.Connect(servers, time.Minute, zk.WithLogger(rig.Silent{}), zk.WithDialer(dial))
	if err != nil {
		return nil, fmt.Errorf("outages: probe of %s: %w", strings.Join(servers, ","), err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &probe{conn: conn, cancel: cancel, begun: time.Now()}
	p.running.Go(func() {
		for range events {
		}
	})
	if _, err := conn.Create(probePath, nil, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
		p.stop()
		return nil, fmt.Errorf("outages: probe: %w", err)
	}
	p.running.Go(func() { p.run(ctx) })
	return p, nil
}

func (p *probe) run(ctx context.Context) {
	for ctx.Err() == nil {
		begun := time.Now()
		p.mu.Lock()
		p.begun = begun
		p.mu.Unlock()
		rig.Rest(ctx, probeEvery)
		_, err := p.conn.Set(probePath, nil, -1)
		p.mu.Lock()
		p.writes = append(p.writes, write{begun, time.Since(begun)})
		if err != nil && ctx.Err() == nil {
			p.err = fmt.Errorf("outages: probe: %w", err)
		}
		p.mu.Unlock()
	}
}

// slowest gives how long the slowest write took that was under way at any time since begun.
func (p *probe) slowest(begun time.Time) (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	slowest := time.Since(p.begun)
	for i := len(p.writes) - 1; i >= 0; i-- {
		w := p.writes[i]
		if w.begun.Add(w.took).Before(begun) {
			break
		}
		slowest = max(slowest, w.took)
	}
	return slowest, p.err
}

func (p *probe) stop() {
	p.cancel()
	p.conn.Close()
	p.running.Wait()
}
