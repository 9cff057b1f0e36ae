package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// The grades of a finding.
const (
	fine   = "ok"
	odd    = "warn"
	broken = "FAIL"
)

// finding is the result of one check.
type finding struct {
	Grade string `json:"grade"`
	What  string `json:"what"`
	Found string `json:"found"`
	Do    string `json:"do,omitempty"` // where something is wrong
}

// examination is a run of doctor.
type examination struct {
	settings
	path      string
	root      string
	timeout   time.Duration
	lookUp    func(ctx context.Context, name string) (ips []string, err error)
	addresses []serverAddress
	findings  []finding
	reached   bool   // a server has answered to the request for a session
	session   string // of this examination, as servers write it
	chroot    string
	weighed   bool // what the sessions weigh is known
	tell      func(finding)
}

func (e *examination) note(grade, what, do, format string, args ...any) {
	f := finding{grade, what, fmt.Sprintf(format, args...), do}
	e.findings = append(e.findings, f)
	e.tell(f)
}

// printFinding prints a finding, in lines that fit the terminal.
func printFinding(f finding) {
	const indent = 4 + 2 + 12 + 2
	grade, what := f.Grade, f.What
	texts := []string{f.Found}
	if f.Do != "" {
		texts = append(texts, "→ "+f.Do)
	}
	for _, text := range texts {
		for _, line := range wrap(text, termWidth()-indent) {
			_ = say(os.Stdout, "%-4s  %-12s  %s", grade, what, line)
			grade, what = "", ""
		}
	}
}

// wrap breaks a text into lines of so many columns, at spaces; a width of zero or less leaves it
// unchanged.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case width > 0 && cells(line)+1+cells(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// verdict is the exit status, and the JSON.
func (e *examination) verdict(asJSON bool) error {
	wrong, warnings := 0, 0
	for _, f := range e.findings {
		switch f.Grade {
		case broken:
			wrong++
		case odd:
			warnings++
		}
	}
	if asJSON {
		err := printJSON(struct {
			Servers  string    `json:"servers"`
			OK       bool      `json:"ok"`
			Findings []finding `json:"findings"`
		}{e.servers, wrong == 0, e.findings}, false)
		if err != nil {
			return err
		}
	}
	text := ""
	switch {
	case !asJSON && wrong > 0:
		text = fmt.Sprintf("%s at %s", count(wrong, "thing is wrong", "things are wrong"), e.servers)
	case !asJSON && warnings > 0:
		fmt.Printf("\nlocks work; %s above\n", count(warnings, "warning", "warnings"))
	case !asJSON:
		fmt.Println("\nall is well")
	}
	switch {
	case wrong > 0 && !e.reached:
		return &exit{statusUnreachable, text}
	case wrong > 0:
		return &exit{statusNo, text}
	}
	return nil
}

// advice says what to do about an error of an operation.
func advice(err error) string {
	switch {
	case errors.Is(err, zkconn.ErrNoAuth):
		return "the ACL of the nodes there wants another credential (--auth), or have READ, WRITE, CREATE and DELETE granted"
	case errors.Is(err, zkconn.ErrNoChildrenForEphemerals):
		return "a node above is ephemeral and cannot have children: name another --path"
	case errors.Is(err, zkconn.ErrClosed), errors.Is(err, zkconn.ErrUnknownOutcome):
		return "the connection was lost meanwhile: look at the servers' logs, and try again"
	}
	return "look at the servers' logs"
}

// errSilent says that a question of doctor's has no answer.
var errSilent = errors.New("no answer")

// inTime asks the servers, and does not wait for longer than there is time. The question may outlast it: it ends with
// the program.
func inTime[A any](ctx context.Context, limit time.Duration, ask func() (A, error)) (A, error) {
	type result struct {
		answer A
		err    error
	}
	done := make(chan result, 1)
	go func() {
		answer, err := ask()
		done <- result{answer, err}
	}()
	over := time.NewTimer(limit)
	defer over.Stop()
	var none A
	select {
	case r := <-done:
		return r.answer, r.err
	case <-over.C:
		return none, fmt.Errorf("%w within %v", errSilent, limit)
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// mostNamed bounds how many findings of one kind doctor tells.
const mostNamed = 5
