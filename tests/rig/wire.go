package rig

import (
	"bytes"
	"net"
)

// wire carries bytes between two members. It does not know what passes, but for the packets between a leader and a
// follower, and for the first message of a connection, which prelude may change.
type wire struct {
	relay
	prelude func(from net.Conn) ([]byte, error) // nil: nothing to change
	quorum  bool                                // packets pass, not the messages of elections
}

func newWire(target string) (*wire, error) {
	listener, err := listen()
	w := &wire{relay: relay{listener: listener, target: target, waits: true}}
	w.begin = func(s *strand) (up, down way) {
		up, down = w.way(&w.up, s.near), w.way(&w.down, s.far)
		if read, first := up.read, w.prelude != nil; first {
			up.read = func() ([]byte, error) {
				if first {
					first = false
					return w.prelude(s.near)
				}
				return read()
			}
		}
		return up, down
	}
	return w, err
}

func (w *wire) way(f *flow, from net.Conn) way {
	buffer := make([]byte, 32<<10)
	var taken, passing packets
	return way{
		read: func() ([]byte, error) {
			n, err := from.Read(buffer)
			if w.quorum {
				f.show(&f.takes, taken.feed(buffer[:n]))
			}
			return bytes.Clone(buffer[:n]), err
		},
		pass: func(b []byte) []byte {
			if w.quorum {
				f.show(&f.delivers, passing.feed(b))
			}
			return b
		},
	}
}

func (w *wire) port() int { return w.listener.Addr().(*net.TCPAddr).Port }

// heal undoes every fault: bytes that were held back are carried on, in order.
func (w *wire) heal() {
	w.Refuse(false)
	w.up.heal()
	w.down.heal()
}
