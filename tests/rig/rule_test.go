package rig

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
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
	OpSetData, false, -1, "/f", "data", -1,
	-1, true, -1)

func parsed(t *testing.T, frame []byte) request {
	t.Helper()
	q, err := parseRequest(framed(frame))
	require.NoError(t, err)
	return q
}

func TestParse(t *testing.T) {
	require.Equal(t, request{xid: 7, op: OpMulti, parts: []operation{
		{OpCreateTTL, "/a", true}, {OpCreate2, "/b", true}, {OpCreateContainer, "/c", true},
		{OpGetChildren, "/d", true}, {OpCheck, "/e", true}, {OpSetData, "/f", true},
	}}, parsed(t, multi))
	require.Equal(t, request{xid: -2, op: OpPing, parts: []operation{{op: OpPing}}}, parsed(t, body(-2, OpPing)))
	for n := range len(multi) {
		_, err := parseRequest(framed(multi[:n]))
		require.Error(t, err, "the first %d bytes of a multi", n)
	}
	_, err := readFrame(bytes.NewReader([]byte("ruok")))
	require.Error(t, err, "a four-letter word")
}

// Rules and counts look into multis.
func TestRules(t *testing.T) {
	frames := map[string]request{"multi": parsed(t, multi), "ping": parsed(t, body(-2, OpPing)), "close": parsed(t, body(1, OpCloseSession)),
		"create": parsed(t, body(3, OpCreate, "/a", -1, 0, 0))}
	p := &Proxy{requests: map[OpCode]int{}, parts: map[OpCode]int{}}
	for _, q := range frames {
		p.observe(q)
	}
	for op, want := range map[OpCode][2]int{OpCreate: {1, 2}, OpCreateTTL: {0, 1}, OpMulti: {1, 0}, OpPing: {1, 1}, OpAny: {3, 8}, OpDelete: {0, 0}} {
		require.Equal(t, want, [2]int{p.Requests(op), p.Operations(op)}, "%v", op)
	}
	for _, c := range []struct {
		frame string
		op    OpCode
		path  string // empty for a rule without one
		want  bool
	}{
		{"multi", OpCreate, "", true},
		{"multi", OpCheck, "", true},
		{"multi", OpMulti, "", true},
		{"multi", OpAny, "", true},
		{"multi", OpGetData, "", false},
		{"multi", OpCreate, "/b", true},
		{"multi", OpCreate, "/a", false},
		{"multi", OpMulti, "/f", true},
		{"multi", OpAny, "/f", true},
		{"multi", OpMulti, "/none", false},
		{"ping", OpPing, "", true},
		{"ping", OpAny, "", false},
		{"close", OpAny, "", true},
		{"close", OpAny, "/a", false},
	} {
		rule := Rule{Op: c.op}
		if c.path != "" {
			rule.Path = func(path string) bool { return path == c.path }
		}
		require.Equal(t, c.want, rule.matches(frames[c.frame]), "%+v", c)
	}
}
