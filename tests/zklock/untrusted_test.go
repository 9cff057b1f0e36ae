package zklock

import (
	"testing"

	"github.com/stretchr/testify/require"
)

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
