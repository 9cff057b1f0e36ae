package main

import (
	"io"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// nasty is what somebody may write into a node, or call it.
const nasty = "$(reboot)'`x`\"; \x1b]0;\a\u202e\n\u2028\x9b \\"

// nastyContender has it wherever a contender has a text.
func nastyContender() (c messages.Contender) {
	v := reflect.ValueOf(&c).Elem()
	for i := range v.NumField() {
		if v.Field(i).Kind() == reflect.String {
			v.Field(i).SetString(nasty)
		}
	}
	c.Path, c.Node = "/"+nasty, "n"+nasty
	return c
}

// printed gives what print writes to the two outputs.
func printed(t *testing.T, print func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	out, failed := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = w, w
	defer func() { os.Stdout, os.Stderr = out, failed }()
	go func() {
		defer w.Close()
		print()
	}()
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(text)
}

// TestOthersTextsReachNoTerminal: what others wrote moves no cursor, breaks no line and turns no words round, wherever
// it is printed.
func TestOthersTextsReachNoTerminal(t *testing.T) {
	c, now := nastyContender(), time.Now()
	holder := c
	holder.Holds, holder.MayHold = true, true
	d := messages.Deadlock{Members: []messages.Member{{Who: nasty, Keeps: holder, Waits: c}}}
	tree := &messages.LockTree{Root: c.Path, Locks: []messages.LockCount{{Path: c.Path, Name: nasty}},
		Unread: []messages.Unread{{Path: c.Path, Refusal: messages.Refusal{Reason: nasty}}}}
	e := &examination{tell: printFinding}
	once := locks.Once{Holder: c, Mark: locks.Mark{State: nasty, Host: nasty, Label: nasty}}
	for name, print := range map[string]func(){
		"queue": func() {
			_ = show(false, nil, queueLines(&messages.Queue{Path: c.Path, Contenders: []messages.Contender{holder, c}}, true, now, 0))
		},
		"tree": func() {
			_ = show(false, nil, forest{tree, []branch{{tree.Locks[0], []messages.Contender{holder, c}}}}.lines(true, now, 0))
		},
		"graph": func() {
			g := graph{tree: tree, edges: []waiting{{c, holder, 1, 0}}, deadlocks: []messages.Deadlock{d}, possible: []messages.Deadlock{d}}
			_ = show(false, nil, g.lines(now, 0))
			_ = g.writeDot(os.Stdout)
		},
		"trace":  func() { _ = change{what: gone, Contender: c}.print(now, false) },
		"json":   func() { _ = printJSON(toJSON(c), true) },
		"doctor": func() { e.judgeSessionless([]messages.Contender{c}); e.note(odd, "x", nasty, "%s", circle(d)) },
		"error":  func() { report(exitWith(1, "%s %v%s", c.Path, once.Mark, atIt(once))) },
		"asked":  func() { tellAsked(c) },
		"voice": func() {
			v := newVoice()
			v.say("somebody asks for %s", c.Path)
			v.close()
		},
		"missing": func() { _ = noteMissing(exitWith(statusMissing, "%s", c.Path)) },
		"refusal": func() {
			report(refusal(&messages.Queue{Path: c.Path, Refusal: messages.Refusal{Reason: nasty, Detail: nasty}}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := printed(t, print)
			require.Contains(t, text, "reboot")
			require.False(t, strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), unprintable), "%q", text)
			for line := range strings.SplitSeq(text, "\n") {
				require.NotRegexp(t, `^[\x{2028}\x{9b} ]*\\`, line, "a line that others have begun: %q", text)
			}
		})
	}
}

// TestWhatIsGivenForPasting: the shell hands zklock the names as they are, and does nothing else.
func TestWhatIsGivenForPasting(t *testing.T) {
	c := nastyContender()
	e := &examination{tell: func(finding) {}}
	e.judgeSessionless([]messages.Contender{c})
	for said, want := range map[string][]string{
		e.findings[0].Do:           {"break", c.Path, c.Node},
		typed("queue", "/a b"):     {"queue", "/a b"},
		typed("queue", "/a/$(x)"):  {"queue", "/a/$(x)"},
		typed("queue", "/plain-1"): {"queue", "/plain-1"},
		typed("break", "/p", "-x"): {"break", "/p", "--", "-x"},
		typed("queue", "/it's"):    {"queue", "/it's"},
	} {
		_, said, found := strings.Cut(said, "zklock ")
		require.True(t, found)
		require.NotContains(t, said, "  ", "lines are broken at spaces")
		out, err := exec.Command("bash", "-c", `zklock() { printf '%s\0' "$@"; }; zklock `+said).Output()
		require.NoError(t, err, said)
		require.Equal(t, want, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), said)
	}
	require.Equal(t, "zklock queue /plain-1", typed("queue", "/plain-1"))
}
