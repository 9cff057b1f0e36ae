package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// The grades of a finding.
const (
	fine   = "ok"
	odd    = "warn"
	broken = "FAIL"
)

// finding is what one look has shown.
type finding struct {
	Grade string `json:"grade"`
	What  string `json:"what"`
	Found string `json:"found"`
	Do    string `json:"do,omitempty"` // where something is wrong
}

// examination is what doctor goes through.
type examination struct {
	settings
	path     string
	root     string
	timeout  time.Duration
	findings []finding
	reached  bool   // a server has answered to the request for a session
	session  string // of this examination, as servers write it
	chroot   string
	weighed  bool // what the sessions weigh is known
	tell     func(finding)
}

func (e *examination) note(grade, what, do, format string, args ...any) {
	f := finding{grade, what, fmt.Sprintf(format, args...), do}
	e.findings = append(e.findings, f)
	e.tell(f)
}

func doctorCommand(conn *connection) *cobra.Command {
	var asJSON bool
	path, root := "/zklock-doctor", "/"
	cmd := &cobra.Command{
		Use:         "doctor [flags]",
		Annotations: map[string]string{},
		Short:       "check everything, and say what to do where it fails",
		Long: `doctor looks at each server (does its name resolve, does it listen, what
version is it, does it serve), opens a session, looks whether the chroot and
--root exist, writes a node, reads it back and deletes it, and measures whether
the answers come in time for a lease. It cuts a connection, and sees whether
its session is given back. Below --root it names what it could not read,
contenders that no session's end deletes, locks on which libraries meet that do
not respect each other, deadlocks, and possible ones (zklock help graph). It
tells which sessions' ephemeral nodes weigh too much.

Exit status: 0 all is well, or only warnings; 1 something is wrong; 69 no
server could be reached.`,
		Example: `  zklock doctor
  zklock doctor --zk zk1:2181,zk2:2181,zk3:2181/app --session-timeout 30s
  zklock doctor --path /orders/doctor          # may we lock there?`,
		Args: named(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := zkconn.CheckPath(path); err != nil {
				return badUse(withFlag(cmd, "--path /PATH"), "doctor: --path: %v", err)
			}
			if err := inspect.CheckRoot(root); err != nil {
				return badUse(withFlag(cmd, "--root /ROOT"), "doctor: --root: %v", err)
			}
			s, err := conn.settings(cmd)
			if err != nil {
				return err
			}
			ctx, stop := untilSignal(cmd.Context())
			defer stop()
			e := &examination{settings: s, path: path, root: root, timeout: conn.connectTimeout, tell: printFinding}
			if asJSON {
				e.tell = func(finding) {}
			}
			e.examine(ctx)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return e.verdict(asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&path, "path", path, "the `path` to write at; nodes above are made where\nthey do not exist")
	cmd.Flags().StringVar(&root, "root", root, "the `path` below which to look at locks")
	return cmd
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
			fmt.Printf("%-4s  %-12s  %s\n", grade, what, printable(line))
			grade, what = "", ""
		}
	}
}

// wrap breaks a text into lines of so many columns, at spaces; a width that is not above zero leaves it as it is.
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

// examine goes through everything, as far as it gets.
func (e *examination) examine(ctx context.Context) {
	cfg, err := e.config()
	if err != nil { // settings has looked at it
		e.note(broken, "servers", "", "%v", err)
		return
	}
	e.lookAtServers(ctx, cfg.Servers())
	conn, granted, ok := e.openSession(ctx, cfg)
	if conn != nil {
		defer conn.Close()
	}
	if !ok {
		return
	}
	e.session, e.chroot = fmt.Sprintf("0x%x", conn.SessionID()), cfg.Chroot()
	goOn, root := e.lookForRoot(ctx, conn, cfg)
	if !goOn {
		return
	}
	trips, ok := e.writeAndRead(ctx, conn)
	if ok {
		e.judgeMargin(granted, trips)
	}
	e.lookAtReconnect(ctx)
	e.lookAtDumps(ctx, cfg.Servers())
	if root {
		e.lookAtContenders(ctx, conn)
		e.lookForDeadlocks(ctx, conn)
	}
}

// openSession opens a session, and judges the timeout that is granted.
func (e *examination) openSession(ctx context.Context, cfg zkconn.Config) (*zkconn.Conn, time.Duration, bool) {
	connected, refused := make(chan zkconn.Event, 1), make(chan zkconn.Event, 1)
	conn, err := zkconn.Dial(cfg, 1, func(event zkconn.Event) {
		where := connected
		switch event.Kind {
		case zkconn.AuthFailed:
			where = refused
		case zkconn.Connected:
		default:
			return
		}
		select {
		case where <- event:
		default:
		}
	})
	if err != nil {
		e.note(broken, "session", "", "%v", err)
		return nil, 0, false
	}
	limit := time.NewTimer(e.timeout)
	defer limit.Stop()
	select {
	case event := <-connected:
		e.reached = true
		return conn, event.Timeout, e.judgeTimeout(event)
	case event := <-refused:
		e.reached = true
		e.note(broken, "session",
			"look at --auth and "+authVariable+": the scheme and the form are SCHEME:SECRET; or at --sasl, and at the "+
				"servers' JAAS file",
			"the servers refuse the credential: %s", short(event.Err))
	case <-limit.C:
		cause := "none answered"
		if err := conn.LastError(); err != nil {
			cause = short(err)
		}
		e.note(broken, "session",
			"see above what is wrong with the servers; a server that listens and does not serve may have no "+
				"quorum", "no session within %v: %s", e.timeout, cause)
	case <-ctx.Done():
	}
	return conn, 0, false
}

func (e *examination) judgeTimeout(event zkconn.Event) bool {
	if event.Timeout != e.settings.timeout {
		e.note(odd, "session",
			fmt.Sprintf("a lock whose holder dies is free after that; ask for --session-timeout %v, or change "+
				"minSessionTimeout and maxSessionTimeout at the servers", event.Timeout),
			"0x%x at %s; timeout %v granted where %v was asked for", event.SessionID, event.Server,
			event.Timeout, e.settings.timeout)
		return true
	}
	e.note(fine, "session", "", "0x%x at %s; timeout %v granted, as asked for", event.SessionID, event.Server,
		event.Timeout)
	return true
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
