package main

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// The size of the output of -brief: with the closing line it fits a terminal of 50 lines.
const (
	shownLines   = 36
	shownColumns = 160
	// linesEach bounds the output of one failure, so that the first does not hide that there are others.
	linesEach = 12
)

// screen hands out the lines of one screen to failures, in the order in which they come.
type screen struct {
	used   int
	unseen int // failures for which no line was left
}

// room gives as much of a failure as there are lines for: its head and the beginning of its output, without the lines
// in which go test says that a test begins or goes on. Where it cuts, it says how much.
func (s *screen) room(head string, output []string) (string, []string) {
	if s.used >= shownLines {
		s.unseen++
		return "", nil
	}
	s.used++
	var told []string
	for line := range strings.Lines(strings.Join(output, "")) {
		if text := strings.TrimSpace(line); text == "" || strings.HasPrefix(text, "=== ") || strings.HasPrefix(text, "--- ") ||
			text == "FAIL" {
			continue
		}
		told = append(told, cut(line))
	}
	if most := min(linesEach, shownLines-s.used); len(told) > most {
		more := len(told) - most
		told = append(told[:most], fmt.Sprintf("    and %d more lines\n", more))
	}
	s.used += len(told)
	return head, told
}

// rest says how many failures were not shown; nothing where all were.
func (s *screen) rest() string {
	if s.unseen == 0 {
		return ""
	}
	return fmt.Sprintf("and %d more failures\n", s.unseen)
}

// cut shortens a line.
func cut(line string) string {
	if utf8.RuneCountInString(line) <= shownColumns {
		return strings.TrimRight(line, "\n") + "\n"
	}
	return string([]rune(line)[:shownColumns]) + "…\n"
}
