package interop

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// report is one report to a witness; wrong is the violation that it names, or nothing.
type report struct {
	verb, holder, place string
	claim               Claim
	node                string
	wrong               string
}

func (r report) tell(w *Witness) error {
	switch r.verb {
	case "enter":
		return w.EnterWith(r.node, r.holder, r.place, r.claim)
	case "change":
		return w.Change(r.holder, r.place, r.claim)
	}
	return w.Leave(r.holder, r.place)
}

func TestWitness(t *testing.T) {
	for name, reports := range map[string][]report{
		"one after the other": {
			{verb: "enter", holder: "a", claim: Exclusive()},
			{verb: "leave", holder: "a"},
			{verb: "enter", holder: "b", claim: Exclusive()},
			{verb: "leave", holder: "b"},
			{verb: "enter", holder: "a", claim: Shared()},
			{verb: "leave", holder: "a"},
		},
		"two exclusive holders": {
			{verb: "enter", holder: "a", claim: Exclusive()},
			{verb: "enter", holder: "b", claim: Exclusive(),
				wrong: "b enters /x (exclusive) while a is inside (exclusive)"},
			{verb: "leave", holder: "a"},
			{verb: "leave", holder: "b"}, // it was there
		},
		"two places": {
			{verb: "enter", holder: "a", place: "/y", claim: Exclusive()},
			{verb: "enter", holder: "a", claim: Exclusive()},
			{verb: "leave", holder: "a"},
			{verb: "leave", holder: "a", place: "/y"},
		},
		"readers": {
			{verb: "enter", holder: "a", claim: Shared()},
			{verb: "enter", holder: "b", claim: Shared()},
			{verb: "leave", holder: "a"},
			{verb: "leave", holder: "b"},
		},
		"reader with writer": {
			{verb: "enter", holder: "a", claim: Exclusive()},
			{verb: "enter", holder: "b", claim: Shared(),
				wrong: "b enters /x (shared) while a is inside (exclusive)"},
			{verb: "leave", holder: "a"},
			{verb: "leave", holder: "b"},
		},
		"writer with readers": {
			{verb: "enter", holder: "a", claim: Shared()},
			{verb: "enter", holder: "b", claim: Shared()},
			{verb: "leave", holder: "a"},
			{verb: "enter", holder: "c", claim: Exclusive(),
				wrong: "c enters /x (exclusive) while b is inside (shared)"},
			{verb: "leave", holder: "b"},
			{verb: "leave", holder: "c"},
		},
		"too many permits": {
			{verb: "enter", holder: "a", claim: OneOf(2)},
			{verb: "enter", holder: "b", claim: OneOf(2)},
			{verb: "enter", holder: "c", claim: OneOf(2), wrong: "c enters /x (one-of-2) with a, b inside"},
			{verb: "leave", holder: "a"},
			{verb: "leave", holder: "b"},
			{verb: "enter", holder: "a", claim: OneOf(2)},
			{verb: "leave", holder: "c"},
			{verb: "leave", holder: "a"},
		},
		"permits of two kinds": {
			{verb: "enter", holder: "a", claim: OneOf(2)},
			{verb: "enter", holder: "b", claim: OneOf(3),
				wrong: "b enters /x (one-of-3) while a is inside (one-of-2)"},
			{verb: "leave", holder: "a"},
			{verb: "leave", holder: "b"},
		},
		"leave without enter": {
			{verb: "leave", holder: "a", wrong: "a leaves /x and is not inside"},
			{verb: "enter", holder: "a", claim: Exclusive()},
			{verb: "leave", holder: "b", wrong: "b leaves /x and is not inside"},
			{verb: "leave", holder: "a"},
			{verb: "leave", holder: "a", wrong: "a leaves /x and is not inside"},
		},
		"inside already": {
			{verb: "enter", holder: "a", claim: Shared()},
			{verb: "enter", holder: "a", claim: Shared(), wrong: "a enters /x and is inside already"},
			{verb: "leave", holder: "a"},
		},
		"downgrade": {
			{verb: "enter", holder: "a", claim: Exclusive()},
			{verb: "change", holder: "a", claim: Shared()},
			{verb: "enter", holder: "b", claim: Shared()},
			{verb: "leave", holder: "a"},
			{verb: "leave", holder: "b"},
		},
		"upgrade beside a reader": {
			{verb: "enter", holder: "a", claim: Shared()},
			{verb: "enter", holder: "b", claim: Shared()},
			{verb: "change", holder: "a", claim: Exclusive(),
				wrong: "a enters /x (exclusive) while b is inside (shared)"},
			{verb: "leave", holder: "a"},
			{verb: "leave", holder: "b"},
		},
		"change outside": {
			{verb: "change", holder: "a", claim: Shared(), wrong: "a changes its claim on /x and is not inside"},
		},
	} {
		t.Run(name, func(t *testing.T) { requireJudged(t, reports) })
	}
}

// requireJudged makes reports to a new witness, which must find wrong what is, and nothing else.
func requireJudged(t *testing.T, reports []report) {
	t.Helper()
	w := NewWitness()
	want := []string{}
	for _, r := range reports {
		r.place = orDefault(r.place, "/x")
		err := r.tell(w)
		if r.wrong == "" {
			require.NoError(t, err)
			continue
		}
		want = append(want, "interop: "+r.wrong)
		require.EqualError(t, err, "interop: "+r.wrong)
	}
	require.ElementsMatch(t, want, w.Violations())
	require.Empty(t, w.Inside())
}

func TestWitnessKnowsWhoIsInside(t *testing.T) {
	w := NewWitness()
	require.NoError(t, w.Enter("b", "/x", Shared()))
	require.NoError(t, w.Enter("a", "/x", Shared()))
	require.NoError(t, w.EnterWith("lock-0000000001", "a", "/w", Exclusive()))
	require.Equal(t, []string{"a in /w", "a in /x", "b in /x"}, w.Inside())
	require.Equal(t, []Entry{
		{"b", "/x", Shared(), ""}, {"a", "/x", Shared(), ""}, {"a", "/w", Exclusive(), "lock-0000000001"},
	}, w.Entries())
}

func TestClaims(t *testing.T) {
	for _, claim := range []Claim{Exclusive(), Shared(), OneOf(1), OneOf(17)} {
		read, err := ParseClaim(claim.String())
		require.NoError(t, err)
		require.Equal(t, claim, read)
	}
	for _, text := range []string{"", "no claim", "one-of-", "one-of-0", "one-of--1", "one-of-x", "Shared"} {
		_, err := ParseClaim(text)
		require.Error(t, err, text)
	}
}
