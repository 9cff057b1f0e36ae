package zklock

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestJSONAtATerminal: what others wrote is in the JSON, and nothing in it that a terminal obeys.
func TestJSONAtATerminal(t *testing.T) {
	t.Parallel()
	at := here(t)
	const label = "a\x1b[2J\u009b2Jb\u202ec"
	holder, _ := runs(t, at, "run --label % /json -- sh -c", label, holding)
	stdout, _ := says(t, at, 0, "queue --json /json")
	require.Contains(t, stdout, `"label": "a\u001b[2J\u009b2Jb\u202ec"`)
	require.Equal(t, label, parsed[[]shown](t, at, 0, "queue --json /json")[0].Label)
	holder.leaves(t)
}

// TestDoctorAtATerminal: what says that it is a server is not believed to be harmless.
func TestDoctorAtATerminal(t *testing.T) {
	t.Parallel()
	at := place{addr: saying(t, embedded.Run(t).Addr(), "Zookeeper version: 3.9\x1b[2J")}
	stdout, _ := says(t, at, 0, "doctor")
	require.Contains(t, stdout, "ZooKeeper 3.9·[2J, standalone")
	require.NotContains(t, stdout, "\x1b")
}

// TestGraphSaysWhatItDidNotSee: a deadlock below a node that may not be read is not seen, and so the answer says which
// that is.
func TestGraphSaysWhatItDidNotSee(t *testing.T) {
	t.Parallel()
	at := here(t)
	at.make(t)
	at.private(t, "/private")
	stdout, _ := says(t, at, 0, "graph /")
	require.Contains(t, stdout, "\nnot read: /private and what is below it (")
	require.Equal(t, []string{"/private"}, parsed[struct{ Unread []string }](t, at, 0, "graph --json /").Unread)
	stdout, _ = says(t, at, 0, "graph --auth digest:ann:secret /")
	require.NotContains(t, stdout, "not read")
}

// TestUnknownScheme: the servers are there, and refuse the credential.
func TestUnknownScheme(t *testing.T) {
	eachServer(t, func(t *testing.T, at place) {
		says(t, at, 70, "queue --auth nonsense:x /x")
		found, do := finds(t, at, 1, "--auth nonsense:x", "session", "FAIL")
		require.Contains(t, found, "refuse the credential")
		require.Contains(t, do, "--auth")
	})
}
