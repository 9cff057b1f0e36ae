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
	return serve(listener, target), nil
}
