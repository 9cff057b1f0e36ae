package rig

import "time"

// Way is a direction between a client and its server.
type Way int

const (
	Up   Way = iota // from the client to the server
	Down            // from the server to the client
)

func (w Way) String() string {
	if w == Up {
		return "up"
	}
	return "down"
}

func (p *Proxy) flow(w Way) *flow {
	if w == Up {
		return &p.up
	}
	return &p.down
}

// Stall holds back everything that goes that way, on all connections, until
// Resume. Connections stay open: when one side closes its end, the other side
// learns of it only after Resume, as it would from a network that is silent.
func (p *Proxy) Stall(w Way) { p.flow(w).stall() }

// Resume lets go what Stall holds back, in order.
func (p *Proxy) Resume(w Way) { p.flow(w).resume() }

// Delay makes everything that is sent that way from now on take d. Delay(w, 0)
// ends that; frames that wait already keep their time, and stay in order.
func (p *Proxy) Delay(w Way, d time.Duration) { p.flow(w).slow(d) }

// Hold, while true, stalls what the server sends; requests still pass.
func (p *Proxy) Hold(hold bool) {
	if hold {
		p.Stall(Down)
	} else {
		p.Resume(Down)
	}
}
