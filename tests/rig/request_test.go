package rig

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"testing"
)

// body builds jute: ints, longs, bools and strings, one after the other.
func body(values ...any) []byte {
	var b []byte
	for _, value := range values {
		switch v := value.(type) {
		case int:
			b = binary.BigEndian.AppendUint32(b, uint32(int32(v)))
		case OpCode:
			b = binary.BigEndian.AppendUint32(b, uint32(v))
		case int64:
			b = binary.BigEndian.AppendUint64(b, uint64(v))
		case bool:
			b = append(b, map[bool]byte{true: 1}[v])
		case string:
			b = binary.BigEndian.AppendUint32(b, uint32(len(v)))
			b = append(b, v...)
		}
	}
	return b
}

var multi = body(7, OpMulti,
	OpCreateTTL, false, -1, "/a", "data", 1, 31, "world", "anyone", 5, int64(1000),
	OpCreate2, false, -1, "/b", -1, -1, 3,
	OpCreateContainer, false, -1, "/c", "", 0, 4,
	OpGetChildren, false, -1, "/d", true,
	OpCheck, false, -1, "/e", -1,
	-1, true, -1)

func TestParseMulti(t *testing.T) {
	got, err := parseRequest(framed(multi))
	if err != nil {
		t.Fatal(err)
	}
	want := request{xid: 7, op: OpMulti, parts: []operation{
		{OpCreateTTL, "/a", true}, {OpCreate2, "/b", true}, {OpCreateContainer, "/c", true},
		{OpGetChildren, "/d", true}, {OpCheck, "/e", true},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestParseShortFrames(t *testing.T) {
	for n := range len(multi) {
		if _, err := parseRequest(framed(multi[:n])); err == nil {
			t.Errorf("the first %d bytes of a multi were understood", n)
		}
	}
}

func TestParseRequestWithoutPath(t *testing.T) {
	got, err := parseRequest(framed(body(-2, OpPing)))
	if err != nil || !reflect.DeepEqual(got, request{xid: -2, op: OpPing, parts: []operation{{op: OpPing}}}) {
		t.Errorf("got %+v, %v", got, err)
	}
	if (Rule{Op: OpAny}).matches(got) {
		t.Error("OpAny matches a ping")
	}
	if !(Rule{Op: OpPing}).matches(got) {
		t.Error("OpPing does not match a ping")
	}
}

func TestReadFrameRefusesAbsurdLengths(t *testing.T) {
	if _, err := readFrame(bytes.NewReader([]byte("ruok"))); err == nil {
		t.Error("a four-letter word was taken for a frame")
	}
}
