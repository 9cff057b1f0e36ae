package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"

	"github.com/turnstile-locks/turnstile/messages"
)

// columns counts as most terminals do. It ignores what the locale says of characters that are wide
// in East Asian fonts only.
var columns = &runewidth.Condition{StrictEmojiNeutral: true}

// cells is the number of columns of a terminal that a text takes.
func cells(text string) int { return columns.StringWidth(text) }

// cut shortens a text to so many columns, and shows that it did.
func cut(text string, width int) string {
	if width < 1 {
		return ""
	}
	return columns.Truncate(text, width, "…")
}

// who names a contender in a few words: by machine and process, or by library and session.
func who(c messages.Contender) string {
	switch {
	case c.Host != "":
		return fmt.Sprintf("%s:%d", c.Host, c.PID)
	case c.Unread && c.Session == 0:
		return "not readable"
	case c.Library == messages.LibraryNone:
		return string(c.Library)
	case c.Unread:
		return fmt.Sprintf("session 0x%x (not readable)", c.Session)
	case c.Asked || c.Library == messages.LibraryUnknown:
		return fmt.Sprintf("session 0x%x", c.Session)
	}
	return fmt.Sprintf("%s, session 0x%x", c.Library, c.Session)
}

// labelled gives who, with the label.
func labelled(c messages.Contender) string {
	if c.Label == "" {
		return who(c)
	}
	return fmt.Sprintf("%s “%s”", who(c), c.Label)
}

// standing says where in the queue a contender stands.
func standing(c messages.Contender) string {
	switch {
	case c.Holds && c.Asked:
		return "revoking"
	case c.Holds:
		return "holds"
	case c.MayHold:
		return "holds?"
	}
	return "waits"
}

// kind names the mode of a contender.
func kind(c messages.Contender) string {
	if c.Mode == messages.Semaphore && c.Weight > 1 {
		return fmt.Sprintf("%d permits", c.Weight)
	}
	switch c.Mode {
	case messages.Semaphore:
		return "1 permit"
	case messages.Read:
		return "shared"
	}
	return c.Mode.String()
}

// ago gives the time since then, in two units at most. A clock that is ahead of ours shows nothing
// below zero.
func ago(since, now time.Time) string {
	if since.IsZero() {
		return "?"
	}
	return span(now.Sub(since))
}

// span is a duration in two units at most: 3d4h, 2h10m, 1m5s, 12s.
func span(d time.Duration) string {
	s := max(int64(d/time.Second), 0)
	units := []struct {
		seconds int64
		name    string
	}{{86400, "d"}, {3600, "h"}, {60, "m"}, {1, "s"}}
	for i, u := range units {
		if s < u.seconds && u.seconds > 1 {
			continue
		}
		text := fmt.Sprintf("%d%s", s/u.seconds, u.name)
		if rest := s % u.seconds; i+1 < len(units) && rest/units[i+1].seconds > 0 {
			text += fmt.Sprintf("%d%s", rest/units[i+1].seconds, units[i+1].name)
		}
		return text
	}
	return "0s"
}

// say prints a line. All that may have texts of others in it goes through here: names, data, errors.
func say(to io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintln(to, printable(fmt.Sprintf(format, args...)))
	return err
}

// typed is a command of zklock as a shell takes it, whatever the names of nodes are. An argument has no spaces in it,
// because lines are broken there, and no characters that printable replaces.
func typed(args ...string) string {
	text := "zklock"
	for i, arg := range args {
		if i == len(args)-1 && strings.HasPrefix(arg, "-") {
			text += " --" // it is no flag
		}
		text += " " + shellQuoted(arg)
	}
	return text
}

func shellQuoted(arg string) string {
	special := func(r rune) bool { return r <= ' ' || r > '~' || r == '\'' }
	switch {
	case arg != "" && !strings.ContainsFunc(arg, func(r rune) bool {
		return special(r) || strings.ContainsRune("\"$&()*;<>?[\\]^`{|}~!#", r)
	}):
		return arg
	case !strings.ContainsFunc(arg, special):
		return "'" + arg + "'"
	}
	var b strings.Builder // as bash, zsh and the newest POSIX have it
	b.WriteString("$'")
	for i := range len(arg) {
		if c := arg[i]; c == '\\' || special(rune(c)) {
			fmt.Fprintf(&b, "\\%03o", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String() + "'"
}

// printable keeps what others have written into nodes from moving the cursor, or worse.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unprintable(r) {
			return '·'
		}
		return r
	}, text)
}

// unprintable reports control characters, and characters that break lines or turn the direction of
// writing. All are below 0x10000.
func unprintable(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x061c || r == 0x200e || r == 0x200f ||
		r >= 0x2028 && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// count is a number and its noun.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// ordinal is a place in a line: 1st, 2nd.
func ordinal(n int) string {
	suffix := "th"
	if tens := n / 10 % 10; tens != 1 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}

// mendStrangers says what to do where libraries meet that do not respect each other (tests/interop).
const mendStrangers = "give kazoo's lock extra_lock_patterns, or Turnstile's the names of kazoo (WithNaming)"

// mayHold says of a contender that it may hold though it waits.
func mayHold(c messages.Contender) string {
	return fmt.Sprintf("%s: number %d is kazoo's, which by itself does not see those before it: it may hold beside them",
		c.Path, c.Sequence)
}

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

func (t *table) add(cells ...string) {
	for i := range cells {
		cells[i] = printable(cells[i]) // before it is measured
	}
	t.rows = append(t.rows, cells)
}

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

// round is a duration that can be read.
func round(d time.Duration) time.Duration {
	switch {
	case d >= time.Second:
		return d.Round(10 * time.Millisecond)
	case d >= time.Millisecond:
		return d.Round(10 * time.Microsecond)
	}
	return d.Round(time.Microsecond)
}
