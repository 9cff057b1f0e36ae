package main

import (
	"fmt"
	"io"
)

// A change is one ratio in two runs.
type change struct {
	comparison // the present commit's
	before     summary
}

// changes pairs the ratios that two runs have in common, in the order of the later one.
//
// Ratios are compared, not figures: both sides of a ratio met the same machine in the same minute, and two runs did not.
func changes(before, now result) (all []change) {
	type key struct {
		workload, peer, against string
		n                       int
	}
	of := func(c comparison) key { return key{c.Workload, c.Peer, c.Against, c.N} }
	earlier := map[key]summary{}
	for _, c := range before.Ratios {
		earlier[of(c)] = c.Ratio
	}
	for _, c := range now.Ratios {
		if ratio, both := earlier[of(c)]; both {
			all = append(all, change{c, ratio})
		}
	}
	return all
}

// String says both ratios, and how one relates to the other; apart means that no round of one run reached the other's.
func (c change) String() string {
	text := fmt.Sprintf("change %s n=%d %s/%s %.3g -> %.3g (%.2f)", c.Workload, c.N, c.Peer, c.Against, c.before.Median,
		c.Ratio.Median, c.Ratio.Median/c.before.Median)
	switch {
	case c.Ratio.Most < c.before.Least:
		return text + " apart: worse"
	case c.Ratio.Least > c.before.Most:
		return text + " apart: better"
	}
	return text
}

// tellChanges prints the changes from an earlier run to this one.
func (r result) tellChanges(to io.Writer, file string) error {
	before, err := readResult(file)
	if err != nil {
		return err
	}
	fmt.Fprintf(to, "# before: %s; %s\n# now: %s; %s\n", before.Servers, before.Machine, r.Servers, r.Machine)
	all := changes(before, r)
	if len(all) == 0 {
		return fmt.Errorf("bench: -against %s: the two runs have no ratio in common", file)
	}
	for _, c := range all {
		fmt.Fprintln(to, c)
	}
	return nil
}
