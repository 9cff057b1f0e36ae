package simulation

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// history tells what happened, in words: what the driver did, every frame that was delivered, every transition
// and notice.
type history struct {
	mu    sync.Mutex
	began time.Time
	lines []line
}

type line struct {
	at   time.Duration
	who  int // a request, from 1, twice; 0 for acts of the driver, which are in order by themselves
	text string
}

func newHistory() *history { return &history{began: time.Now()} }

// note writes what the driver does.
func (h *history) note(format string, args ...any) { h.write(0, format, args...) }

// tell writes what the observer of a request heard.
func (h *history) tell(request int, format string, args ...any) { h.write(2*request, format, args...) }

// returned writes what a call of the request's owner gave.
func (h *history) returned(request int, format string, args ...any) {
	h.write(2*request+1, format, args...)
}

func (h *history) write(who int, format string, args ...any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, line{time.Since(h.began), who, fmt.Sprintf(format, args...)})
}

// story is the history, a line each. The steps of several requests between two acts of the driver have no
// order of their own: they are told request by request.
func (h *history) story() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	lines := slices.Clone(h.lines)
	slices.SortStableFunc(lines, func(a, b line) int { return int(a.at - b.at) })
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && lines[to].at == lines[from].at && (lines[to].who == 0) == (lines[from].who == 0) {
			to++
		}
		if lines[from].who != 0 {
			slices.SortStableFunc(lines[from:to], func(a, b line) int { return a.who - b.who })
		}
		from = to
	}
	told := make([]string, len(lines))
	for i, l := range lines {
		told[i] = fmt.Sprintf("%11.6f  %s", l.at.Seconds(), l.text)
	}
	return told
}

// difference gives the first lines that differ, with the lines before; "" when all are the same.
func difference(a, b []string) string {
	for i := range max(len(a), len(b)) {
		x, y := at(a, i), at(b, i)
		if x != y {
			before := strings.Join(a[max(0, i-8):i], "\n")
			return fmt.Sprintf("%s\n- %s\n- %s\n+ %s\n+ %s", before, x, at(a, i+1), y, at(b, i+1))
		}
	}
	return ""
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}
