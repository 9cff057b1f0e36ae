package main

import "sync"

// loglines is a writer that remembers the last lines: a log at debug level of an hour would fill disks,
// and only what was logged just before something went wrong is wanted.
type loglines struct {
	mu    sync.Mutex
	lines [][]byte
	next  int
}

const linesKept = 20_000

// Write takes one line, as slog's handlers write them. It never fails.
func (l *loglines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := append([]byte(nil), p...)
	if len(l.lines) < linesKept {
		l.lines = append(l.lines, line)
	} else {
		l.lines[l.next] = line
		l.next = (l.next + 1) % linesKept
	}
	return len(p), nil
}

// count counts the lines that are remembered.
func (l *loglines) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.lines)
}

// String gives what is remembered, oldest first.
func (l *loglines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []byte
	for i := range l.lines {
		all = append(all, l.lines[(l.next+i)%len(l.lines)]...)
	}
	return string(all)
}
