package zklock

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// shown is a contender as --json shows it, as far as the tests look.
type shown struct {
	Path     string    `json:"path"`
	Node     string    `json:"node"`
	Sequence int32     `json:"sequence"`
	Mode     string    `json:"mode"`
	Permits  int       `json:"permits"`
	Holds    bool      `json:"holds"`
	WaitsFor []string  `json:"waits_for"`
	Token    string    `json:"token"`
	Session  string    `json:"session"`
	Library  string    `json:"library"`
	Asked    bool      `json:"revoking"`
	Host     string    `json:"host"`
	PID      int       `json:"pid"`
	Label    string    `json:"label"`
	Since    time.Time `json:"asked_at"`
}

// crowd has one hold a lock, and another wait for it.
func crowd(t *testing.T, at place, path string) (holder, waiter *process, queue []messages.Contender) {
	t.Helper()
	holder, _ = runs(t, at, "run --label % % -- sh -c", "the first", path, holding)
	waiter = start(t, at, "run --label % % -- sh -c", "the\tsecond\x1b[2J", path, holding)
	return holder, waiter, awaitQueue(t, at, path, 1, 1)
}

func TestQueue(t *testing.T) {
	eachServer(t, func(t *testing.T, at place) {
		at.make(t, "/orders", "/orders/42")
		stdout, _ := says(t, at, 0, "queue /orders/42")
		require.Regexp(t, "^/orders/42: nobody holds it, nobody waits\n"+
			"the path is a persistent node, made \\S+ ago: a contest there waits until it is deleted\n$", stdout)
		require.Equal(t, []shown{}, parsed[[]shown](t, at, 0, "queue --json /orders/42"))
		require.Equal(t, []shown{}, parsed[[]shown](t, at, 66, "queue --json /orders/43"))

		holder, waiter, queue := crowd(t, at, "/orders/42")
		stdout, _ = says(t, at, 0, "queue /orders/42")
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		require.Len(t, lines, 5, stdout)
		require.Equal(t, "/orders/42: 1 holds, 1 waits", lines[0])
		require.Regexp(t, `^ *NO  STATE  KIND  +ASKED  WHO +LABEL$`, lines[2])
		require.Regexp(t, `^ *0  holds  exclusive  +\S+ ago  \S+:\d+ +the first$`, lines[3])
		require.Regexp(t, `^ *1  waits  exclusive  +\S+ ago  \S+:\d+ +the·second·\[2J$`, lines[4], "what others wrote does not reach the terminal as it is")
		stdout, _ = says(t, at, 0, "queue --wide /orders/42")
		require.Contains(t, stdout, queue[0].Node)
		require.Contains(t, stdout, queue[0].Token.String())

		all := parsed[[]shown](t, at, 0, "queue --json /orders/42")
		require.Len(t, all, 2)
		require.Equal(t, shown{Path: "/orders/42", Node: queue[0].Node, Sequence: 0, Mode: "exclusive", Holds: true, Token: queue[0].Token.String(),
			Session: all[0].Session, Library: "turnstile", Host: queue[0].Host, PID: holder.Pid(), Label: "the first", Since: all[0].Since}, all[0])
		require.True(t, queue[0].Since.Equal(all[0].Since))
		require.Equal(t, waiter.Pid(), all[1].PID)
		require.False(t, all[1].Holds)
		require.Equal(t, []string{queue[0].Node}, all[1].WaitsFor)
		require.Equal(t, "the\tsecond\x1b[2J", all[1].Label)

		says(t, at, 0, "revoke /orders/42") // the command of holder does not trap SIGTERM
		holder.ends(t, 80)
		waiter.up(t)
		waiter.leaves(t)
	})
}

func TestTree(t *testing.T) {
	t.Parallel()
	at := here(t)
	at.make(t)
	stdout, _ := says(t, at, 0, "tree /")
	require.Equal(t, "below /: 0 locks, 0 holders, 0 waiters\n", stdout)
	crowd(t, at, "/orders/42")
	_, _ = runs(t, at, "run --permits 2 /printers -- sh -c", holding)
	stdout, _ = says(t, at, 0, "tree /")
	require.Equal(t, "below /: 2 locks, 2 holders, 1 waiter\n\nHOLD  WAIT  LOCK\n   1     1  /orders/42\n   1     0  /printers (1 of 2 permits)\n", stdout)
	stdout, _ = says(t, at, 0, "tree /orders")
	require.Contains(t, stdout, "below /orders: 1 lock, ")
	stdout, _ = says(t, at, 0, "tree --long /")
	require.Regexp(t, `(?m)^ +1 +1  /orders/42 +\S+ “the first” +\S+, \S+ “the·second·\[2J”$`, stdout)

	type lock struct {
		Path             string
		Holders, Waiters int
		Permits, Taken   int
		Contenders       []shown
	}
	type tree struct {
		Root  string
		Locks []lock
	}
	require.Equal(t, tree{"/", []lock{{"/orders/42", 1, 1, 0, 0, nil}, {"/printers", 1, 0, 2, 1, nil}}}, parsed[tree](t, at, 0, "tree --json /"))
	long := parsed[tree](t, at, 0, "tree --json --long /")
	require.Equal(t, "the first", long.Locks[0].Contenders[0].Label)
	require.Equal(t, "semaphore", long.Locks[1].Contenders[0].Mode)
}

// TestTrace: who comes, holds, is asked and goes, in this order.
func TestTrace(t *testing.T) {
	t.Parallel()
	at := here(t)
	text := start(t, at, "trace /t")
	lines := start(t, at, "trace --json /t")
	type line struct {
		At   time.Time `json:"at"`
		What string    `json:"what"`
		shown
	}
	saw := func(want ...string) func() bool {
		return func() bool {
			var got []string
			for l := range strings.SplitSeq(lines.stdout(t), "\n") {
				var one line
				if json.Unmarshal([]byte(l), &one) == nil && !one.At.IsZero() {
					got = append(got, one.What+" "+one.Label)
				}
			}
			return strings.Join(got, ", ") == strings.Join(want, ", ")
		}
	}
	// Both have seen each step before the next is taken, because a late look sees two steps as
	// one.
	told := func(n int) {
		scene.Eventually(t, func() bool { return strings.Count(text.stdout(t), "\n") == n }, "the trace for people has not %d lines", n)
	}
	holder, _ := runs(t, at, "run --label one /t -- sh -c", holding)
	scene.Eventually(t, saw("holds one"), "the first was not seen to hold")
	told(1)
	waiter := start(t, at, "run --label two /t -- sh -c", holding)
	scene.Eventually(t, saw("holds one", "waits two"), "the second was not seen to wait")
	told(2)
	holder.leaves(t)
	scene.Eventually(t, saw("holds one", "waits two", "gone one", "holds two"), "the hand-over was not seen")
	told(4)
	waiter.up(t)
	waiter.leaves(t)
	scene.Eventually(t, saw("holds one", "waits two", "gone one", "holds two", "gone two"), "the end was not seen")
	told(5)
	all := strings.Split(text.stdout(t), "\n")
	require.Regexp(t, `^\d\d:\d\d:\d\d\.\d{3}  holds +0  \S+:\d+ “one”, token \d+$`, all[0])
	require.Regexp(t, `  waits +1  \S+ “two”, 1 before it$`, all[1])
	require.Regexp(t, `  gone +0  \S+ “one”, held it$`, all[2])
	for _, p := range []*process{text, lines} {
		p.send(t, 2)
		p.ends(t, 130)
	}
}

// TestGraph: who waits for whom; two that wait for each other are marked.
func TestGraph(t *testing.T) {
	eachServer(t, func(t *testing.T, at place) {
		at.make(t)
		stdout, _ := says(t, at, 0, "graph /")
		require.Equal(t, "below /: 0 wait, 0 deadlocks\n", stdout)
		crowd(t, at, "/plain")
		stdout, _ = says(t, at, 0, "graph /")
		require.Regexp(t, `(?m)^\S+ “the·second·\[2J”  /plain +\S+ “the first”  holds +\S+ ago$`, stdout)

		inADeadlock(t, at)
		stdout, _ = says(t, at, 1, "graph /")
		require.Contains(t, stdout, "below /: 3 wait, 1 deadlock\n")
		require.Contains(t, stdout, "DEADLOCK 1: ")
		require.Regexp(t, `(?m)^  \S+ “wants /prices”\n    holds /stock \(number 0\) and waits for /prices \(number 1\)$`, stdout)
		require.Regexp(t, `(?m)^\S+ “wants /prices” +/prices +\S+ “sets prices” +holds +\S+ ago  deadlock 1$`, stdout)
		require.Regexp(t, `(?m)^\S+ “the·second·\[2J” .* ago$`, stdout, "this one is no part of it")

		dot, _ := says(t, at, 1, "graph --dot /")
		require.True(t, strings.HasPrefix(dot, "digraph locks {\n") && strings.HasSuffix(dot, "}\n"), dot)
		require.Equal(t, 2, strings.Count(dot, `tooltip="deadlock 1"`), dot)
		require.Equal(t, 3, strings.Count(dot, " -> "), dot)
		type graph struct {
			Waiting []struct {
				Waiter, Behind shown
				Deadlock       int
			}
			Deadlocks [][]struct{ Keeps, Waits shown }
		}
		g := parsed[graph](t, at, 1, "graph --json /")
		require.Len(t, g.Waiting, 3)
		require.Len(t, g.Deadlocks, 1)
		require.Len(t, g.Deadlocks[0], 2)
	})
}

// inADeadlock has two hold a lock and want the other's, until the test is over.
func inADeadlock(t *testing.T, at place) {
	t.Helper()
	client := at.client(t)
	x := scene.Locked(t, client.Mutex("/stock", locks.WithLabel("moves stock")).Lock)
	y := scene.Locked(t, client.Mutex("/prices", locks.WithLabel("sets prices")).Lock)
	for lease, path := range map[*locks.Lease]string{x: "/prices", y: "/stock"} {
		scene.Elsewhere(lease.Context(), client.Mutex(path, locks.WithLabel("wants "+path)).Lock)
		awaitQueue(t, at, path, 1, 1)
	}
}

// TestNested: a zklock under a zklock with the same lock would wait for itself, and is told so; one with another lock
// is fine.
func TestNested(t *testing.T) {
	t.Parallel()
	at := here(t)
	inner := func(line string) string { return program + " " + line + " --session-timeout 30s --wait 3m" }
	under := func(status int, outer, line string) (stdout, stderr string) {
		t.Helper()
		return says(t, at, status, outer+" -- "+line)
	}
	another := inner("run") + " /n -- printenv ZKLOCK_PATH"
	stdout, _ := under(0, "run /other", another)
	require.Equal(t, "/n\n", stdout)
	for _, c := range []struct{ outer, line, says string }{
		{"run /n", another, "which would wait for itself"},
		{"run /n", inner("run") + " /other -- " + another, "which would wait for itself"},
		{"run /n", inner("run") + " --zk " + at.addr + " " + at.chroot + "/n -- true", "which would wait for itself"}, // seen through another chroot
		{"run --shared /n", inner("run") + " --shared /n -- true", "which may wait for itself"},
	} {
		_, stderr := under(70, c.outer, c.line)
		require.Contains(t, stderr, c.says)
	}
}
