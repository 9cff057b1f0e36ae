package rig

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
)

// Partitionable is an ensemble whose members can be cut off from each other, and
// whose links can stall or delay one direction alone ([Partitionable.Link]),
// while clients still reach all of them: every member knows each of its peers by
// the addresses of wires of its own, one for the quorum and one for elections.
type Partitionable struct {
	*Ensemble
	wires map[direction][]*wire
}

// direction is from the member that dials to the one that is dialed; both count
// from 0.
type direction struct{ from, to int }

// NewPartitionable starts an ensemble of n servers that can be partitioned, and
// waits until all serve and one leads. The caller stops it.
func NewPartitionable(n int, opts ...Option) (*Partitionable, error) {
	return launch(func() (*Partitionable, error) {
		ensemble, err := prepareEnsemble(n, newSettings(opts))
		p := &Partitionable{Ensemble: ensemble, wires: map[direction][]*wire{}}
		if err == nil {
			err = p.connect()
		}
		return p, err
	}, (*Partitionable).start)
}

// StartPartitionable is [NewPartitionable] for tests: it calls [Require], and
// stops the ensemble when the test ends.
func StartPartitionable(t testing.TB, n int, opts ...Option) *Partitionable {
	t.Helper()
	Require(t)
	p, err := NewPartitionable(n, opts...)
	if err != nil {
		t.Fatal(err)
	}
	stopAtEnd(t, p.Stop, p.members...)
	return p
}

// connect lays the wires and tells each member of its own.
func (p *Partitionable) connect() error {
	for from := range p.peers {
		for to, peer := range p.peers {
			if from == to {
				continue
			}
			for _, port := range []int{peer.quorum, peer.election} {
				w, err := newWire(loopback(port))
				if err != nil {
					return err
				}
				p.wires[direction{from, to}] = append(p.wires[direction{from, to}], w)
			}
		}
	}
	for way, pair := range p.wires {
		back := loopback(p.wires[direction{way.to, way.from}][1].port())
		pair[1].prelude = func(conn net.Conn) ([]byte, error) { return introduce(conn, back) }
		pair[0].quorum = true
		pair[0].run()
		pair[1].run()
	}
	for from, member := range p.members {
		lines := p.quorumLines() // its own line says where it listens
		for to, peer := range p.peers {
			if pair := p.wires[direction{from, to}]; pair != nil {
				lines[to] = peer.line(to+1, pair[0].port(), pair[1].port())
			}
		}
		member.quorum = lines
	}
	return nil
}

// introduce reads the first message of an election connection, in which a member
// says where it is to be called back, and puts back in that place. A member with
// a greater id hangs up and calls back; without this it would do so past the wires.
func introduce(conn net.Conn, back string) ([]byte, error) {
	const head = 8 + 8 + 4 // version of the protocol, id, length of the address
	message := make([]byte, head)
	if _, err := io.ReadFull(conn, message); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(message[16:])
	if version := int64(binary.BigEndian.Uint64(message)); version >= 0 || size > 1<<10 {
		return nil, fmt.Errorf("rig: not the first message of an election: %x", message)
	}
	if _, err := io.CopyN(io.Discard, conn, int64(size)); err != nil {
		return nil, err
	}
	binary.BigEndian.PutUint32(message[16:], uint32(len(back)))
	return append(message, back...), nil
}

// around is every wire to and from a member.
func (p *Partitionable) around(member int) (all []*wire) {
	for way, pair := range p.wires {
		if way.from == member || way.to == member {
			all = append(all, pair...)
		}
	}
	return all
}

// CutOff closes what connects a member (counted from 0) with the others, and
// lets nothing new be connected, until Heal.
func (p *Partitionable) CutOff(member int) {
	for _, w := range p.around(member) {
		w.Refuse(true)
		w.Cut()
	}
}

// Silence lets nothing pass between a member and the others until Heal.
// Connections stay open: nobody is told.
func (p *Partitionable) Silence(member int) {
	for _, w := range p.around(member) {
		w.up.stall()
		w.down.stall()
	}
}

// Heal undoes every fault of every link, so that all members are connected. Bytes that were held
// back are delivered.
func (p *Partitionable) Heal() {
	for _, pair := range p.wires {
		for _, w := range pair {
			w.heal()
		}
	}
}

// Stop ends all members and wires and removes the data, for good.
func (p *Partitionable) Stop() error {
	err := p.Ensemble.Stop()
	for _, pair := range p.wires {
		for _, w := range pair {
			w.Close()
		}
	}
	p.wires = nil
	return err
}
