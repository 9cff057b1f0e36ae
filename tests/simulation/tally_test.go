package simulation

import (
	"fmt"
	"slices"
	"strings"
)

// tally counts what was tried.
type tally struct {
	Seeds, Frames, Grants, Losses int
	Seed                          uint64         // the newest
	Done                          map[string]int // actions that found something to do, by kind
	Kinds                         map[string]int // grants, by the kind of lock
}

func newTally() *tally { return &tally{Done: map[string]int{}, Kinds: map[string]int{}} }

// add adds what others have counted.
func (t *tally) add(more tally) {
	t.Seeds += more.Seeds
	t.Frames += more.Frames
	t.Grants += more.Grants
	t.Losses += more.Losses
	for name, n := range more.Done {
		t.Done[name] += n
	}
	for name, n := range more.Kinds {
		t.Kinds[name] += n
	}
}

// String is the tally in a few lines.
func (t *tally) String() string {
	actions := 0
	var faults []string
	for _, k := range kinds {
		actions += t.Done[k.name]
		if k.fault {
			faults = append(faults, fmt.Sprintf("%s %d", k.name, t.Done[k.name]))
		}
	}
	slices.Sort(faults)
	var grants []string
	for name, n := range t.Kinds {
		grants = append(grants, fmt.Sprintf("%s %d", name, n))
	}
	slices.Sort(grants)
	return fmt.Sprintf("%d seeds, %d actions, %d frames, %d grants (%s), %d losses; %s",
		t.Seeds, actions, t.Frames, t.Grants, strings.Join(grants, ", "), t.Losses, strings.Join(faults, ", "))
}
