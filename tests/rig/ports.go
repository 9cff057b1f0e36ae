package rig

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Ports are taken from below the range that kernels give to outgoing
// connections. A port from ":0" lies inside it, and while its server is down
// any client's connection may be given that very port: the restart then fails.
const (
	firstPort = 12000
	portCount = 20000
)

var portsTaken = struct {
	sync.Mutex
	numbers map[int]bool
}{numbers: map[int]bool{}}

// TakePort returns a port that nothing listens on. No two calls in this process
// return the same one; another process may still be quicker, so that starting a
// server is tried again with other ports when it cannot bind.
func TakePort() (int, error) {
	portsTaken.Lock()
	defer portsTaken.Unlock()
	for range 200 {
		port := firstPort + rand.IntN(portCount)
		if portsTaken.numbers[port] {
			continue
		}
		listener, err := net.Listen("tcp", loopback(port))
		if err != nil {
			continue
		}
		_ = listener.Close()
		portsTaken.numbers[port] = true
		return port, nil
	}
	return 0, errors.New("rig: found no free port")
}

// ReleasePort gives ports back once their server is gone for good.
func ReleasePort(ports ...int) {
	portsTaken.Lock()
	defer portsTaken.Unlock()
	for _, port := range ports {
		delete(portsTaken.numbers, port)
	}
}

func loopback(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
