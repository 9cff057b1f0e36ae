package main

import "strings"

// table is rows of cells, in columns that are as wide as they have to be.
type table struct {
	right []bool // which columns are aligned to the right
	rows  [][]string
}

func newTable(columns ...string) *table {
	t := &table{right: make([]bool, len(columns))}
	for i, c := range columns {
		if strings.HasPrefix(c, ">") {
			t.right[i], columns[i] = true, c[1:]
		}
	}
	t.rows = append(t.rows, columns)
	return t
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// lines gives the table's lines. Where they are wider than width, the widest columns are made narrower; a width of zero
// leaves them as they are, for programs that read the output.
func (t *table) lines(width int) []string {
	widths := t.widths(width)
	lines := make([]string, len(t.rows))
	for n, row := range t.rows {
		var b strings.Builder
		for i, cell := range row {
			cell = cut(cell, widths[i])
			pad := strings.Repeat(" ", widths[i]-cells(cell))
			if i > 0 {
				b.WriteString("  ")
			}
			if t.right[i] {
				b.WriteString(pad + cell)
			} else {
				b.WriteString(cell + pad)
			}
		}
		lines[n] = strings.TrimRight(b.String(), " ")
	}
	return lines
}

func (t *table) widths(limit int) []int {
	widths := make([]int, len(t.rows[0]))
	total := 2 * (len(widths) - 1)
	for i := range widths {
		for _, row := range t.rows {
			widths[i] = max(widths[i], cells(row[i]))
		}
		total += widths[i]
	}
	for ; limit > 0 && total > limit; total-- {
		widest := 0
		for i := range widths {
			if widths[i] >= widths[widest] { // of several, the last
				widest = i
			}
		}
		if widths[widest] <= 6 {
			break
		}
		widths[widest]--
	}
	return widths
}
