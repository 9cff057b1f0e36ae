package rig

import (
	"bytes"
	"encoding/binary"
)

// PacketType is the kind of a packet between a leader and a follower.
type PacketType int32

// Some of the kinds, by their numbers in ZooKeeper's Leader class.
const (
	PacketRequest    PacketType = 1 // follower to leader: a client's request
	PacketProposal   PacketType = 2
	PacketAck        PacketType = 3
	PacketCommit     PacketType = 4
	PacketPing       PacketType = 5 // and its answer, which carries what the follower has heard from
	PacketRevalidate PacketType = 6 // and its answer
	PacketSync       PacketType = 7 // the answer to a sync
	packetSnapshot   PacketType = 15
)

// Packet is a message of a leader or a follower on the connection between them. Messages to clients
// are no packets.
type Packet struct {
	Type PacketType
	Zxid int64
	Data []byte
}

// Sessions gives the sessions in the answer to a ping, or in a revalidation: session ids with their
// timeouts in milliseconds.
func (p Packet) Sessions() map[int64]int32 {
	found := map[int64]int32{}
	for rest := p.Data; len(rest) >= 12; rest = rest[12:] {
		found[int64(binary.BigEndian.Uint64(rest))] = int32(binary.BigEndian.Uint32(rest[8:]))
	}
	return found
}

// Session gives the session whose request a PacketRequest carries, whose transaction a PacketProposal has, or which the
// answer to a revalidation names.
func (p Packet) Session() int64 {
	if len(p.Data) < 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64(p.Data))
}

// Op gives the kind of the request that a PacketRequest carries.
func (p Packet) Op() OpCode {
	const at = 8 + 4 // behind the session, and the request's number on its connection
	if len(p.Data) < at+4 {
		return 0
	}
	return OpCode(binary.BigEndian.Uint32(p.Data[at:]))
}

// snapshotEnd is the mark that a leader writes behind a snapshot. It is no packet.
var snapshotEnd = []byte("\x00\x00\x00\x0aBenWasHere")

// packets cuts one direction of a connection into packets.
type packets struct {
	rest     []byte
	snapshot bool // its bytes pass now
	lost     bool // they are packets that we do not know; nothing is told any more
}

// feed takes bytes as they pass, and returns the packets that end in them.
func (p *packets) feed(passing []byte) (found []Packet) {
	if p.lost {
		return nil
	}
	p.rest = append(p.rest, passing...)
	for {
		if p.snapshot && !p.skipSnapshot() {
			return found
		}
		packet, size, err := parsePacket(p.rest)
		if err != nil {
			p.lost, p.rest = true, nil
			return found
		}
		if size == 0 {
			return found
		}
		p.rest = bytes.Clone(p.rest[size:])
		p.snapshot = packet.Type == packetSnapshot
		found = append(found, packet)
	}
}

func (p *packets) skipSnapshot() bool {
	end := bytes.Index(p.rest, snapshotEnd)
	if end < 0 {
		p.rest = bytes.Clone(p.rest[max(0, len(p.rest)-len(snapshotEnd)):])
		return false
	}
	p.rest, p.snapshot = bytes.Clone(p.rest[end+len(snapshotEnd):]), false
	return true
}

// parsePacket reads one packet: a type, a zxid, data, and a list of identities. A
// size of 0 says that more bytes are to come.
func parsePacket(b []byte) (packet Packet, size int, err error) {
	r := &reader{rest: b}
	packet = Packet{Type: PacketType(r.int32()), Zxid: r.int64()}
	data, count := r.int32(), int32(0)
	if data < -1 || data > frameLimit {
		return packet, 0, errShortFrame
	}
	if data >= 0 {
		packet.Data = bytes.Clone(r.take(int(data)))
	}
	if count = r.int32(); count < -1 || count > 1<<10 {
		return packet, 0, errShortFrame
	}
	for range max(count, 0) {
		r.buffer() // scheme
		r.buffer() // id
	}
	if r.err != nil {
		return packet, 0, nil
	}
	return packet, len(b) - len(r.rest), nil
}
