package rig

import (
	"encoding/binary"
	"reflect"
	"testing"
)

// encoded is a packet as servers write it.
func encoded(p Packet, identities int32) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(p.Type))
	b = binary.BigEndian.AppendUint64(b, uint64(p.Zxid))
	if p.Data == nil {
		b = append(b, 0xff, 0xff, 0xff, 0xff)
	} else {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(p.Data))), p.Data...)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(identities))
	for range max(identities, 0) {
		b = append(b, "\x00\x00\x00\x02ip\x00\x00\x00\x04here"...)
	}
	return b
}

// Packets are found wherever the reads end, also behind a snapshot.
func TestPacketsInPieces(t *testing.T) {
	sent := []Packet{
		{Type: PacketPing, Zxid: 7}, {Type: PacketRequest, Zxid: -1, Data: []byte("a request")},
		{Type: packetSnapshot, Zxid: 8}, {Type: PacketCommit, Zxid: 9},
	}
	var all []byte
	for i, p := range sent {
		all = append(all, encoded(p, int32(i)-1)...)
		if p.Type == packetSnapshot {
			all = append(append(all, "a tree, BenWas"...), snapshotEnd...)
		}
	}
	for size := 1; size <= len(all); size++ {
		var p packets
		var got []Packet
		for begin := 0; begin < len(all); begin += size {
			got = append(got, p.feed(all[begin:min(begin+size, len(all))])...)
		}
		if !reflect.DeepEqual(got, sent) {
			t.Fatalf("in pieces of %d bytes: %v", size, got)
		}
	}
}
