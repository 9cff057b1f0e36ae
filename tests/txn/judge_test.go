package txn

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Outcome is the answer that the writer of an entry got.
type Outcome int

// The outcomes.
const (
	// Unknown: nobody was told, so far or for good.
	Unknown Outcome = iota
	// Committed: the transaction was carried out.
	Committed
	// Refused: it was not, and never will be.
	Refused
)

// Entry is the text of an entry: the fencing token of the hold, and a text that no other entry of the hold has, without
// spaces.
func Entry(token int64, text string) string { return fmt.Sprintf("%d %s", token, text) }

// Kind is a kind of mistake in a journal.
type Kind string

// The kinds.
const (
	// Stale: an entry of a holder is behind the entry of a later holder.
	Stale Kind = "stale commits"
	// Mistold: an entry does not agree with what its writer was told.
	Mistold Kind = "commits of which the wrong thing was told"
)

// Finding is something that is wrong.
type Finding struct {
	Kind Kind
	Text string
}

// Journal judges the writes of holders of one exclusive lock to ZooKeeper, by transactions that commit only while the lock
// is held (locks.Lease.Txn). Each writes entries into a journal, nodes with numbers that the server gives, and reports the
// outcome of each. From that follow the entries that may exist, and their order. The rules, all exact:
//
//   - An entry of a holder is behind no entry of a later one: a holder that has lost the lock to another commits nothing.
//   - An entry whose writer was told that it is committed exists once. One whose writer was told the opposite does not
//     exist. One of unknown outcome exists once or not at all.
//   - No entry exists that nobody has written.
//
// Its methods may be called from several goroutines; the zero value is empty.
type Journal struct {
	mu       sync.Mutex
	expected map[string]Outcome // of the entries that were not judged yet
	last     int64              // the greatest token that was found
	lastText string
	counts   map[Outcome]int
}

// Begin notes that an entry is about to be written.
func (j *Journal) Begin(entry string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.expected == nil {
		j.expected = map[string]Outcome{}
	}
	j.expected[entry] = Unknown
}

// End notes what its writer was told.
func (j *Journal) End(entry string, told Outcome) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, known := j.expected[entry]; known {
		j.expected[entry] = told
	}
	if j.counts == nil {
		j.counts = map[Outcome]int{}
	}
	j.counts[told]++
}

// Counts says how many entries ended how.
func (j *Journal) Counts() map[Outcome]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.counts)
}

// Judge takes the entries, in the order of their numbers, while no entry is being written: all of
// them, or the ones since the last call. Entries of unknown outcome may come later.
func (j *Journal) Judge(entries []string) (wrong []Finding) {
	j.mu.Lock()
	defer j.mu.Unlock()
	find := func(kind Kind, format string, args ...any) {
		wrong = append(wrong, Finding{kind, fmt.Sprintf(format, args...)})
	}
	found := map[string]int{}
	for _, entry := range entries {
		found[entry]++
		text, _, _ := strings.Cut(entry, " ")
		token, err := strconv.ParseInt(text, 10, 64)
		_, known := j.expected[entry]
		switch {
		case err != nil || !known && found[entry] == 1:
			find(Mistold, "nobody has written %q, or it was judged before", entry)
			continue
		case token < j.last:
			find(Stale, "%q is behind %q", entry, j.lastText)
		default:
			j.last, j.lastText = token, entry
		}
	}
	for _, entry := range slices.Sorted(maps.Keys(j.expected)) {
		told, times := j.expected[entry], found[entry]
		switch {
		case told == Refused && times > 0:
			find(Mistold, "%q was told to be refused, and is there", entry)
		case told == Committed && times == 0:
			find(Mistold, "%q was told to be committed, and is not there", entry)
		case times > 1:
			find(Mistold, "%q is there %d times", entry, times)
		}
		if told != Unknown || times > 0 {
			delete(j.expected, entry)
		}
	}
	return wrong
}

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
