package rig

import (
	"fmt"
	"net"
)

// OpenProxy is [NewProxy] for programs that are no tests: the caller closes it.
func OpenProxy(target string) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("rig: listen for a proxy: %w", err)
	}
	p := &Proxy{
		listener: listener,
		target:   target,
		gate:     make(chan struct{}),
		links:    map[*link]struct{}{},
		requests: map[OpCode]int{},
		parts:    map[OpCode]int{},
	}
	close(p.gate)
	p.running.Go(p.accept)
	return p, nil
}
