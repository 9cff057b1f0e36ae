package rig

import (
	"fmt"
	"slices"
	"time"
)

// OneWay is one direction of the link between two members: everything that one of them sends to the
// other, on the connection of a follower to its leader and on connections for elections, whichever
// side has dialed. Clients do not use it.
//
//	p.Link(leader, follower).Stall() // no ping, proposal or commit arrives
//	...                              // its answers and requests still do
//	p.Link(leader, follower).Heal()  // what was held back arrives, in order
type OneWay struct{ flows []*flow }

// Link is the traffic of from to to, two different members of the ensemble. It
// panics when they are not.
func (p *Partitionable) Link(from, to *Server) *OneWay {
	a, b := slices.Index(p.members, from), slices.Index(p.members, to)
	if a < 0 || b < 0 || a == b {
		panic(fmt.Sprintf("rig: no link from %v to %v: it takes two members of the ensemble", from, to))
	}
	o := &OneWay{}
	for _, w := range p.wires[direction{a, b}] {
		o.flows = append(o.flows, &w.up)
	}
	for _, w := range p.wires[direction{b, a}] {
		o.flows = append(o.flows, &w.down)
	}
	return o
}

// Stall holds back everything that goes this way, until Heal. Connections stay
// open and nobody is told. A connection that is dialed meanwhile, from either
// side, does not come about: that takes both directions.
func (o *OneWay) Stall() {
	for _, f := range o.flows {
		f.stall()
	}
}

// Delay makes everything that is sent this way from now on take d.
func (o *OneWay) Delay(d time.Duration) {
	for _, f := range o.flows {
		f.slow(d)
	}
}

// Heal undoes Stall and Delay. The bytes that were held back are delivered, in order.
func (o *OneWay) Heal() {
	for _, f := range o.flows {
		f.heal()
	}
}

// Observe tells f of every packet that goes this way on the connection of a
// follower to its leader, right before it is delivered: what stalls has not passed.
// f is called in the order of the packets. Observe(nil) ends that; a call of f may
// still be under way.
func (o *OneWay) Observe(f func(Packet)) {
	for _, way := range o.flows {
		way.observe(&way.delivers, f)
	}
}

// ObserveTaken tells f of every packet when it has been sent into the link, which may hold it back for a while. Otherwise
// it is like Observe.
func (o *OneWay) ObserveTaken(f func(Packet)) {
	for _, way := range o.flows {
		way.observe(&way.takes, f)
	}
}
