package journal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestJudge: what may be there is accepted, and everything else is found, each as what it is.
func TestJudge(t *testing.T) {
	a, b, c := Entry(1, "a"), Entry(1, "b"), Entry(2, "c")
	told := func(outcomes ...Outcome) *Journal {
		j := &Journal{}
		for i, entry := range []string{a, b, c} {
			j.Begin(entry)
			if outcomes[i] != Unknown {
				j.End(entry, outcomes[i])
			}
		}
		return j
	}
	for name, c := range map[string]struct {
		journal *Journal
		there   []string
		want    []Kind
	}{
		"all are there":       {told(Committed, Committed, Committed), []string{a, b, c}, nil},
		"in any order of one": {told(Committed, Committed, Committed), []string{b, a, c}, nil},
		"refused":             {told(Committed, Refused, Committed), []string{a, c}, nil},
		"unknown and there":   {told(Committed, Unknown, Committed), []string{a, b, c}, nil},
		"unknown and not":     {told(Committed, Unknown, Committed), []string{a, c}, nil},
		"stale":               {told(Committed, Committed, Committed), []string{a, c, b}, []Kind{Stale}},
		"stale and unknown":   {told(Committed, Unknown, Committed), []string{a, c, b}, []Kind{Stale}},
		"stale and refused":   {told(Committed, Refused, Committed), []string{a, c, b}, []Kind{Stale, Mistold}},
		"lost":                {told(Committed, Committed, Committed), []string{a, c}, []Kind{Mistold}},
		"refused, but there":  {told(Committed, Refused, Committed), []string{a, b, c}, []Kind{Mistold}},
		"twice":               {told(Committed, Committed, Committed), []string{a, a, b, c}, []Kind{Mistold}},
		"unknown, twice":      {told(Committed, Unknown, Committed), []string{a, b, b, c}, []Kind{Mistold}},
		"a stranger's":        {told(Committed, Committed, Committed), []string{a, b, c, "7 x"}, []Kind{Mistold}},
		"not an entry":        {told(Committed, Committed, Committed), []string{a, b, c, "x"}, []Kind{Mistold}},
	} {
		var kinds []Kind
		for _, f := range c.journal.Judge(c.there) {
			kinds = append(kinds, f.Kind)
			require.NotEmpty(t, f.Text)
		}
		require.Equal(t, c.want, kinds, name)
	}
}

// TestJudgeAgain: what was judged is not looked for again, what is unknown may still come, and the order goes on.
func TestJudgeAgain(t *testing.T) {
	j := &Journal{}
	one, late, two := Entry(5, "one"), Entry(5, "late"), Entry(6, "two")
	j.Begin(one)
	j.Begin(late)
	j.End(one, Committed)
	require.Empty(t, j.Judge([]string{one}))
	require.Empty(t, j.Judge([]string{late}))
	require.Equal(t, []Finding{{Mistold, `nobody has written "5 late", or it was judged before`}}, j.Judge([]string{late}))
	j.Begin(two)
	require.Empty(t, j.Judge([]string{two}))
	j.Begin(late)
	require.Equal(t, Stale, j.Judge([]string{late})[0].Kind)
	require.Equal(t, map[Outcome]int{Committed: 1}, j.Counts())
}
