package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// row is a suite's row of the table.
type row struct {
	suite          suite
	real, embedded outcomes
}

// show prints a table of the suites, and below it the exceptions with their reasons.
func show(to io.Writer, rows []row) error {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "suite\ttests\treal\tembedded\texceptions")
	for _, r := range rows {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\n", r.suite.name, len(r.real), r.real.count(passed), r.embedded.count(passed),
			len(excepted(r.suite.exceptions)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		for _, e := range r.suite.exceptions {
			fmt.Fprintf(to, "\n%s: %s\n", r.suite.name, e.reason)
			for _, test := range e.tests {
				fmt.Fprintf(to, "  %s\n", test)
			}
		}
	}
	return nil
}
