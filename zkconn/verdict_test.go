package zkconn

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVerdictOfParts: every cut of a multi's answer that is refused is no evidence, and its parts say what the leader
// decided.
func TestVerdictOfParts(t *testing.T) {
	refused := func(code int32) []byte {
		part := append(binary.BigEndian.AppendUint32(nil, 0xffffffff), 0)
		part = binary.BigEndian.AppendUint32(part, uint32(code))
		return binary.BigEndian.AppendUint32(part, uint32(code))
	}
	last := []byte{0xff, 0xff, 0xff, 0xff, 1, 0xff, 0xff, 0xff, 0xff}
	for name, c := range map[string]struct {
		body []byte
		want verdict
	}{
		"a check that passed":        {slices.Concat([]byte{0, 0, 0, opCheck, 0, 0, 0, 0, 0}, last), decided},
		"no node":                    {slices.Concat(refused(codeNoNode), last), decided},
		"not allowed, by the leader": {slices.Concat(refused(codeNoAuth), last), decided},
		"expired":                    {slices.Concat(refused(codeSessionExpired), last), ended},
		"expired in the second":      {slices.Concat(refused(0), refused(codeSessionExpired), refused(-2), last), ended},
		"moved":                      {slices.Concat(refused(codeSessionMoved), last), moved},
		"no part at all":             {last, decided},
	} {
		require.Equal(t, c.want, verdictOfParts(c.body), name)
	}
	require.Equal(t, decided, verdictOf(0))
	whole := slices.Concat(refused(codeNoNode), last)
	for n := range whole {
		require.Equal(t, undecided, verdictOfParts(whole[:n]), "%d of %d bytes", n, len(whole))
	}
}
