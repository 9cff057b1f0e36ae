package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// side is the role of a contender, seen from the fault.
type side int

const (
	affected side = iota // the fault befalls its session
	others
)

func (s side) String() string {
	if s == affected {
		return "affected"
	}
	return "other"
}

// result has the findings of a scenario.
type result struct {
	Scenario   string        `json:"scenario"`
	Timeout    time.Duration `json:"timeout"`
	Tick       time.Duration `json:"tick"`
	Trials     int           `json:"trials"`
	Rounds     int           `json:"rounds"`
	Granted    int           `json:"granted"`
	Others     int           `json:"grantedToOthers"`
	Overlaps   int           `json:"overlaps"`
	Longest    time.Duration `json:"longest"`
	Disorder   int           `json:"disorder"`
	TooLate    int           `json:"tooLate"`
	Lost       int           `json:"lost"`
	Needlessly int           `json:"needlessly"`
	Failed     int           `json:"failed"`           // calls of Lock with an error that is not the end of a round
	Never      int           `json:"never"`            // requests that were not granted though nothing hindered them any more
	Waited     *shares       `json:"waited,omitempty"` // nil: the scenario does not measure it
	Relisted   int64         `json:"relisted"`         // times a waiter found by listing again what no event had told it
	Took       time.Duration `json:"took"`

	waits waits
}

// clean reports whether the rule has held.
func (r *result) clean() bool {
	return r.Overlaps == 0 && r.Disorder == 0 && r.Never == 0 && r.Relisted == 0
}

// add counts one trial, and returns the overlaps in it that are longer than allowed. alive are the
// sessions that the leader knew at the end.
func (r *result) add(l *ledger, alive map[int64]bool, allowed time.Duration) []overlap {
	r.Trials++
	r.Disorder += l.disorder()
	found := l.overlaps()
	for _, o := range found {
		r.Longest = max(r.Longest, o.length)
	}
	if allowed > 0 {
		found = slices.DeleteFunc(found, func(o overlap) bool { return o.length <= allowed })
	}
	if len(found) > 0 {
		r.Overlaps++
	}
	for _, h := range l.holds {
		switch {
		case !h.valid():
			r.TooLate++
		case h.side == affected:
			r.Granted++
		default:
			r.Others++
		}
		if h.lost {
			r.Lost++
		}
		if h.lost && alive[h.session] {
			r.Needlessly++
		}
	}
	return found
}

// show prints all results.
func show(out io.Writer, asJSON bool, all []*result) error {
	if asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(all)
	}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "scenario\tT\ttick\ttrials\tgranted\tto others\toverlaps\tlongest\tdisorder\t"+
		"too late\tlost\tneedlessly\tfailed\tnever\trelisted\twaited\ttook\t")
	for _, r := range all {
		fmt.Fprintf(w, "%s\t%v\t%v\t%d\t%d\t%d\t%d\t%v\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%v\t%v\t\n", r.Scenario, r.Timeout, r.Tick, r.Trials,
			r.Granted, r.Others, r.Overlaps, r.Longest.Round(time.Millisecond), r.Disorder, r.TooLate, r.Lost, r.Needlessly,
			r.Failed, r.Never, r.Relisted, r.Waited, r.Took.Round(time.Second))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(out, table.String()) // at once: a test logs each write
	return err
}
