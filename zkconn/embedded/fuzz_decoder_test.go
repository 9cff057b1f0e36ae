package embedded

import (
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"
)

// opcodes are all that clients may send, and two that they may not.
var opcodes = []Op{OpNotification, OpCreate, OpDelete, OpExists, OpGetData, OpSetData, OpGetACL, OpSetACL,
	OpGetChildren, OpSync, OpPing, OpGetChildren2, OpCheck, OpMulti, OpCreate2, OpReconfig, OpCheckWatches,
	OpRemoveWatches, OpCreateContainer, OpDeleteContainer, OpCreateTTL, OpMultiRead, OpAuth, OpSetWatches,
	OpSASL, OpGetEphemerals, OpGetAllChildrenNumber, OpSetWatches2, OpAddWatch, OpWhoAmI, OpCreateSession,
	OpCloseSession, opError, 77}

// FuzzDecoder reads arbitrary bytes as every kind of record. The memory that it allocates stays in
// proportion to the bytes, for any lengths that they name.
func FuzzDecoder(f *testing.F) {
	for _, seed := range seedRecords() {
		f.Add(seed)
	}
	f.Add([]byte{0x7f, 0xff, 0xff, 0xff})
	f.Add([]byte{0x80, 0, 0, 0})
	f.Fuzz(func(t *testing.T, frame []byte) {
		for name, read := range readers() {
			before := allocated()
			read(&decoder{buf: frame})
			// A part of a multi takes 14 bytes on the wire and 168 in memory, five times that while
			// its list grows. The rest allows for the coarse counter.
			require.LessOrEqual(t, allocated()-before, uint64(1<<20+64*len(frame)), name)
		}
		for _, op := range opcodes {
			requestPaths(op, frame)
			wellFormed(op, decoder{buf: frame})
		}
	})
}

// readers are all the ways in which the server reads a record.
func readers() map[string]func(*decoder) {
	all := map[string]func(*decoder){
		"multi": func(d *decoder) { readMulti(d) },
		"vectors": func(d *decoder) {
			d.int64()
			d.texts()
			d.texts()
			d.texts()
			d.texts()
			d.texts()
		},
		"ACL":     func(d *decoder) { d.text(); d.acl(); d.int32() },
		"data":    func(d *decoder) { d.text(); d.data(); d.int32() },
		"scalars": func(d *decoder) { d.int32(); d.int64(); d.bool(); d.bytes() },
	}
	for _, op := range []Op{OpCreate, OpCreate2, OpCreateContainer, OpCreateTTL} {
		all[op.String()] = func(d *decoder) { readCreate(op, d) }
	}
	return all
}

// allocated is the number of bytes that the process has allocated so far.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestLengthsAloneAllocateNothing gives lengths of two billion to every reader, at every place.
func TestLengthsAloneAllocateNothing(t *testing.T) {
	lengths := [][]byte{{0x7f, 0xff, 0xff, 0xff}, {0x80, 0, 0, 0}, {0xff, 0xff, 0xff, 0xfe}}
	for _, seed := range seedRecords() {
		for at := range seed {
			for _, length := range lengths {
				frame := append(append([]byte(nil), seed[:at]...), length...)
				for name, read := range readers() {
					before := allocated()
					read(&decoder{buf: frame})
					require.LessOrEqual(t, allocated()-before, uint64(1<<20), "%s of %x", name, frame)
				}
			}
		}
	}
}
