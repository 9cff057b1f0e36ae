package interop

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// passes is a holder that comes in with a node and leaves again.
func passes(holder, node string, claim Claim, wrong string) []report {
	return []report{
		{verb: "enter", holder: holder, node: node, claim: claim, wrong: wrong},
		{verb: "leave", holder: holder},
	}
}

func TestWitnessJudgesOrder(t *testing.T) {
	for name, reports := range map[string][][]report{
		"in order, with gaps": {
			passes("a", "_c_x-lock-0000000000", Exclusive(), ""),
			passes("b", "/x/y__lock__0000000001", Exclusive(), ""),
			passes("a", "z-lock-0000000007", Exclusive(), ""),
		},
		"overtaken": {
			passes("a", "lock-0000000004", Exclusive(), ""),
			passes("b", "lock-0000000003", Exclusive(),
				"b enters /x with lock-0000000003 (exclusive) after a with lock-0000000004"),
			passes("c", "lock-0000000005", Exclusive(), ""),
		},
		"one node twice": {
			passes("a", "lock-0000000004", Exclusive(), ""),
			passes("a", "lock-0000000004", Exclusive(),
				"a enters /x with lock-0000000004 (exclusive) after a with lock-0000000004"),
		},
		"readers among themselves": {
			passes("w", "__WRIT__0000000001", Exclusive(), ""),
			passes("a", "__READ__0000000003", Shared(), ""),
			passes("b", "__READ__0000000002", Shared(), ""),
			passes("w", "__WRIT__0000000004", Exclusive(), ""),
		},
		"a reader that a writer overtook": {
			passes("w", "__WRIT__0000000003", Exclusive(), ""),
			passes("a", "__READ__0000000004", Shared(), ""),
			passes("b", "__READ__0000000002", Shared(),
				"b enters /x with __READ__0000000002 (shared) after w with __WRIT__0000000003"),
		},
		"a writer that a reader overtook": {
			passes("a", "__READ__0000000002", Shared(), ""),
			passes("b", "__READ__0000000004", Shared(), ""),
			passes("w", "__WRIT__0000000003", Exclusive(),
				"w enters /x with __WRIT__0000000003 (exclusive) after b with __READ__0000000004"),
		},
		"permits": {
			passes("a", "lease-0000000002", OneOf(2), ""),
			passes("b", "lease-0000000001", OneOf(2), ""),
		},
		"no number": {
			passes("a", "lock-7", Exclusive(), "a enters /x with lock-7, which has no sequence number"),
			passes("b", "lock-00000000x7", Exclusive(),
				"b enters /x with lock-00000000x7, which has no sequence number"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			var all []report
			for _, one := range reports {
				all = append(all, one...)
			}
			requireJudged(t, all)
		})
	}
}

func TestOrderIsJudgedByPlace(t *testing.T) {
	w := NewWitness()
	require.NoError(t, w.EnterWith("lock-0000000002", "a", "/x", Exclusive()))
	require.NoError(t, w.EnterWith("lock-0000000001", "a", "/y", Exclusive()))
	require.NoError(t, w.EnterWith("", "a", "/z", Exclusive()))
}
