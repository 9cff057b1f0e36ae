package main

import (
	"encoding/json"
	"io"
	"maps"
	"reflect"
	"time"

	"github.com/turnstile-locks/turnstile/tests/journal"
)

// result is the outcome of a run.
type result struct {
	Peer            string         `json:"peer"`
	Seed            uint64         `json:"seed"`
	Seconds         float64        `json:"seconds"`
	TimeoutsDiffer  bool           `json:"members_session_timeouts_differ"`
	Grants          int            `json:"grants"`
	Faults          map[string]int `json:"faults"`
	SessionsLost    int            `json:"sessions_lost"`
	LocksLost       int            `json:"locks_lost_and_told"`
	OverAtOnce      int            `json:"grants_over_when_returned"`
	Writes          int            `json:"writes"`
	LateRefused     int            `json:"late_writes_refused"`
	LateAccepted    int            `json:"late_writes_nobody_came_before"`
	Ensembles       int            `json:"ensembles"`
	TreesDiffered   int            `json:"servers_trees_differed"`
	Unrepaired      int            `json:"ensembles_not_repaired"`
	Tainted         int            `json:"violations_after_trees_differed"`
	Commits         int            `json:"commits"` // under a lock, by transactions
	CommitsRefused  int            `json:"commits_refused"`
	CommitsUnknown  int            `json:"commits_of_unknown_outcome"`
	QuietPoints     int            `json:"quiet_points"`
	Windows         int            `json:"history_windows_checked"`
	Undecided       int            `json:"history_windows_undecided"`
	Struck          int            `json:"history_windows_not_judged"` // an operator's delete is part of them
	LongestOverlap  float64        `json:"longest_overlap_ms"`
	HeldDeleted     int            `json:"held_nodes_deleted"`
	RetainedDeleted int            `json:"retained_nodes_deleted"`
	ByOperator      int            `json:"after_held_node_was_deleted"` // double holders and what follows from them
	ByOperatorMost  float64        `json:"longest_overlap_after_held_node_was_deleted_ms"`
	Wipes           int            `json:"wipes"`
	WipedDoubles    int            `json:"double_holders_around_wipes"`
	WipedMost       float64        `json:"longest_overlap_around_wipes_ms"`
	WipedGrants     int            `json:"grants_out_of_order_or_refused_around_wipes"`
	BackAfterWipe   float64        `json:"longest_time_to_a_grant_after_a_wipe_seconds"`
	Polls           int            `json:"wake_ups_by_poll_at_any_time"`
	Wrong           map[string]int `json:"must_be_zero"`
	Errors          map[string]int `json:"errors_returned"`
	LongestMajority float64        `json:"longest_gap_majority_up_seconds"`
	LongestWhole    float64        `json:"longest_gap_all_up_seconds"`

	AtRest map[string]atRest `json:"at_rest,omitempty"`

	endedEarly bool
}

// result counts what the judge has seen.
func (j *judge) result(o options, took time.Duration) result {
	j.mu.Lock()
	defer j.mu.Unlock()
	t := j.tally()
	r := result{Peer: o.peer, Seed: o.seed, Seconds: took.Seconds(), TimeoutsDiffer: o.timeoutsDiffer(), Grants: j.grants,
		SessionsLost: j.sessions, LocksLost: j.told, OverAtOnce: j.overAtOnce, Writes: j.writes, LateRefused: j.late,
		LateAccepted: j.lateWrites, Ensembles: 1, TreesDiffered: j.different, Unrepaired: j.broken,
		Tainted: t.tainted, Polls: j.polls,
		Wipes: j.wipe.wipes, WipedDoubles: t.wipedDoubles, WipedGrants: t.wipedGrants, WipedMost: millis(t.wipedLongest),
		BackAfterWipe: j.wipe.longest.Seconds(), LongestOverlap: millis(t.longest), ByOperator: t.operator, ByOperatorMost: millis(t.operatorLongest),
		Wrong: map[string]int{}, Errors: maps.Clone(j.errors),
		LongestMajority: j.majority.longest.Seconds(), LongestWhole: j.whole.longest.Seconds()}
	for _, kind := range mustBeZero {
		r.Wrong[kind] = t.wrong[kind]
	}
	r.AtRest = j.atRest()
	r.HeldDeleted, r.RetainedDeleted = j.deletions()
	commits := j.commits()
	r.Commits, r.CommitsRefused = commits[journal.Committed], commits[journal.Refused]
	r.CommitsUnknown = commits[journal.Unknown]
	return r
}

func millis(nanoseconds int64) float64 { return float64(nanoseconds) / float64(time.Millisecond) }

// show writes a result as JSON.
func (r result) show(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// clean reports whether all that must be zero is.
func (r result) clean() bool {
	for _, n := range r.Wrong {
		if n != 0 {
			return false
		}
	}
	return true
}

// and adds what came of the next ensemble: counts, and the greatest of each measure.
func (r result) and(next result) result {
	seconds := r.Seconds + next.Seconds
	mine, theirs := reflect.ValueOf(&r).Elem(), reflect.ValueOf(next)
	for i := range mine.NumField() {
		switch m, n := mine.Field(i), theirs.Field(i); {
		case m.CanInt():
			m.SetInt(m.Int() + n.Int())
		case m.CanFloat():
			m.SetFloat(max(m.Float(), n.Float()))
		case m.Type() == reflect.TypeFor[map[string]int]():
			for name, count := range n.Interface().(map[string]int) {
				m.Interface().(map[string]int)[name] += count
			}
		}
	}
	for name, f := range r.AtRest { // that each ensemble's grow was judged
		g := next.AtRest[name]
		if f.Most = max(f.Most, g.Most); g.Looks > f.Looks {
			f.Median, f.Looks = g.Median, g.Looks
		}
		r.AtRest[name] = f
	}
	r.Seconds, r.endedEarly = seconds, next.endedEarly
	return r
}
