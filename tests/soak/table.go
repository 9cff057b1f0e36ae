package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

// row is a line of the table.
type row struct{ name, value string }

// rows are the figures in the order in which people read them.
func (r result) rows() (rows []row) {
	add := func(name string, value any) { rows = append(rows, row{name, fmt.Sprint(value)}) }
	add("locks of", r.Peer)
	add("duration", time.Duration(r.Seconds*float64(time.Second)).Round(time.Second))
	add("clients × workers, locks", fmt.Sprintf("%d × %d, %d", r.Clients, r.Workers, r.Locks))
	add("calm clients × workers, locks", fmt.Sprintf("%d × %d, %d", r.CalmClients, r.CalmWorkers, r.CalmLocks))
	add("members' session timeouts differ", r.TimeoutsDiffer)
	add("seed", r.Seed)
	add("grants", r.Grants)
	add("grants/s", fmt.Sprintf("%.1f", r.GrantsPerSecond))
	for _, name := range slices.Sorted(maps.Keys(r.Faults)) {
		add("fault: "+name, r.Faults[name])
	}
	add("sessions lost", r.SessionsLost)
	add("locks lost and told", r.LocksLost)
	add("grants over when Lock returned", r.OverAtOnce)
	add("writes to the resources", r.Writes)
	add("late writes refused by the fence", r.LateRefused)
	add("late writes that nobody came before", r.LateAccepted)
	add("commits under a lock", r.Commits)
	add("commits refused", r.CommitsRefused)
	add("commits of unknown outcome", r.CommitsUnknown)
	add("ensembles", r.Ensembles)
	add("servers found their trees different", r.TreesDiffered)
	add("ensembles that could not be repaired", r.Unrepaired)
	add("violations between that and the ensemble's end", r.Tainted)
	add("quiet points", r.QuietPoints)
	add("windows of history checked", r.Windows)
	add("windows not decided in time", r.Undecided)
	add("windows not judged, for an operator's delete", r.Struck)
	add("held nodes deleted by an operator", r.HeldDeleted)
	add("double holders and the like after that", r.ByOperator)
	add("longest overlap after that", fmt.Sprintf("%.1fms", r.ByOperatorMost))
	add("retained nodes deleted by an operator", r.RetainedDeleted)
	add("wipes and restores of the servers' data", r.Wipes)
	add("double holders around them", r.WipedDoubles)
	add("longest overlap around them", fmt.Sprintf("%.1fms", r.WipedMost))
	add("grants with tokens or writes out of order around them", r.WipedGrants)
	add("longest time to a client's grant after them", fmt.Sprintf("%.1fs", r.BackAfterWipe))
	add("wake-ups by the poll, at any time", r.Polls)
	restRows(r.AtRest, add)
	for _, kind := range mustBeZero {
		add(kind, r.Wrong[kind])
	}
	add("longest overlap of two valid leases", fmt.Sprintf("%.1fms", r.LongestOverlap))
	add("longest time without a grant, majority up", fmt.Sprintf("%.1fs", r.LongestMajority))
	add("longest time without a grant, all members up", fmt.Sprintf("%.1fs", r.LongestWhole))
	for _, kind := range slices.Sorted(maps.Keys(r.Errors)) {
		add("error: "+kind, r.Errors[kind])
	}
	return rows
}

// show writes a table with a column for each result, or the first result as JSON.
func show(w io.Writer, asJSON bool, results ...result) error {
	if asJSON {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		return encoder.Encode(results[0])
	}
	var names []string
	values := map[string][]string{}
	for n, r := range results {
		for _, line := range r.rows() {
			if values[line.name] == nil {
				names = append(names, line.name)
				values[line.name] = make([]string, len(results))
			}
			values[line.name][n] = line.value
		}
	}
	var table bytes.Buffer // tabwriter writes cell by cell
	t := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	for _, name := range names {
		fmt.Fprint(t, name)
		for _, value := range values[name] {
			fmt.Fprint(t, "\t", value)
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := table.WriteTo(w)
	return err
}

// readResult reads what an earlier run printed with -json.
func readResult(name string) (r result, err error) {
	content, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(content, &r)
	}
	if err != nil {
		return r, fmt.Errorf("soak: -beside: %w", err)
	}
	return r, nil
}
