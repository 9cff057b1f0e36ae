package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
)

// lines writes a figure or a ratio as a line.
func (f figure) line() string {
	return fmt.Sprintf("%s n=%d %s %s %s (%s..%s, %d rounds)", f.Workload, f.N, f.Peer, number(f.Figure.Median), f.Unit,
		number(f.Figure.Least), number(f.Figure.Most), f.Figure.Rounds)
}

func (c comparison) line() string {
	return fmt.Sprintf("ratio %s n=%d %s/%s %s (%s..%s)", c.Workload, c.N, c.Peer, c.Against, number(c.Ratio.Median),
		number(c.Ratio.Least), number(c.Ratio.Most))
}

// number has three digits that say something, and no exponent.
func number(value float64) string {
	digits := 0
	if size := math.Abs(value); size > 0 && size < 100 {
		digits = min(max(2-int(math.Floor(math.Log10(size))), 0), 6)
	}
	return strconv.FormatFloat(value, 'f', digits, 64)
}

// writeJSON writes the whole result.
func (r result) writeJSON(to io.Writer) error {
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
