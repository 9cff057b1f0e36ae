package queue

import (
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

// FuzzNodes reads any names and data of nodes: a neighbour may make them. Nothing panics, no name is taken for another, and no
// more memory is used than the names and data allow. Names are separated by slashes.
func FuzzNodes(f *testing.F) {
	const guid = "0b2f5a54-52a1-4c2f-9f0e-6d3c1f0f4b51"
	for m := messages.Exclusive; m.Known(); m++ {
		for _, s := range []Style{{Mode: m, Weight: 2}, {Mode: m, Naming: messages.KazooNaming, Weight: 1}, {Mode: m, Naming: messages.RecipeNaming, Weight: 1}, {Mode: m, Name: "x-lock-", Weight: 1}} {
			name := s.Prefix(guid) + "0000000001"
			f.Add(name+"/"+s.Prefix(Reclaimable+guid)+"-2147483648", Owner{Host: "h", Mode: m.String()}.Encode())
		}
	}
	f.Add("_c_x-permits-9223372036854775807-0000000001/_c_x-permits-1-0000000002", []byte("9223372036854775807"))
	f.Add("a-1-"+guid+"-guard/lock-0000000001/padlock-0000000001", []byte(RevokeRequest))
	f.Fuzz(func(t *testing.T, names string, data []byte) {
		before := allocated()
		children := strings.Split(names, "/")
		for _, child := range children {
			e, ok := Parse(child)
			if !ok {
				continue
			}
			require.Equal(t, child, e.Child)
			require.True(t, e.Mode.Known())
			require.Positive(t, max(e.Weight, 1))
			require.LessOrEqual(t, e.Weight, MaxPermits)
			if again, ok := Parse(e.Prefix(guid) + "0000000001"); ok {
				require.Equal(t, e.Mode, again.Mode)
			}
			_, _, _ = e.mayDowngrade(), Exhausted(e.Sequence), IsGuard(child)
		}
		require.LessOrEqual(t, len(Standings(children, 2)), len(children))
		o, ours := ParseOwner(data)
		if ours {
			again, still := ParseOwner(o.Encode())
			require.True(t, still)
			require.Equal(t, o.Who(), again.Who())
		}
		require.True(t, IsRevokeRequest(Asked(data)))
		if n, err := ParsePermits(data); err == nil {
			require.Empty(t, CheckPermits(n))
		}
		require.Less(t, allocated()-before, uint64(32<<20+4*(len(names)+len(data))))
	})
}

// allocated gives the bytes that this process has ever allocated.
func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
