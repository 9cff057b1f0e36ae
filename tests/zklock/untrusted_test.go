package zklock

import (
	"net"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

// TestJSONAtATerminal: what others wrote is in the JSON, and nothing in it that a terminal obeys.
func TestJSONAtATerminal(t *testing.T) {
	t.Parallel()
	at := here(t)
	const label = "a\x1b[2J\u009b2Jb\u202ec"
	holder, _ := runs(t, at, patiently("run", "--label", label, "/json", "--", "sh", "-c", holding)...)
	stdout, _ := says(t, at, 0, "queue", "--json", "/json")
	require.Contains(t, stdout, `"label": "a\u001b[2J\u009b2Jb\u202ec"`)
	require.Equal(t, label, parsed[[]shown](t, at, 0, "queue", "--json", "/json")[0].Label)
	holder.letGo()
	holder.ends(t, 0)
}

// TestDoctorAtATerminal: what says that it is a server is not believed to be harmless.
func TestDoctorAtATerminal(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	over := make(chan struct{})
	go func() {
		defer close(over)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 4))
			_, _ = conn.Write([]byte("Zookeeper version: 3.9\x1b[2J, built now\nMode: standalone\u009b2J\n"))
			conn.Close()
		}
	}()
	stdout, _ := says(t, place{addr: listener.Addr().String()}, 69, "doctor", "--connect-timeout", "5s")
	require.Contains(t, stdout, "ZooKeeper 3.9·[2J, standalone·2J")
	require.NotContains(t, stdout, "\x1b")
	require.NoError(t, listener.Close())
	<-over
}

// TestGraphSaysWhatItDidNotSee: a deadlock below a node that may not be read is not seen, and so the answer says which
// that is.
func TestGraphSaysWhatItDidNotSee(t *testing.T) {
	eachServer(t, func(t *testing.T, at place) {
		conn := at.raw(t)
		_, err := conn.Create(at.chroot, nil, 0, zk.WorldACL(zk.PermAll))
		require.NoError(t, err)
		_, err = conn.Create(at.chroot+"/private", nil, 0, zk.DigestACL(zk.PermAll, "ann", "secret"))
		require.NoError(t, err)
		stdout, _ := says(t, at, 0, "graph", "/")
		require.Contains(t, stdout, "\nnot read: /private and what is below it (")
		require.Equal(t, []string{"/private"}, parsed[struct{ Unread []string }](t, at, 0, "graph", "--json", "/").Unread)
		stdout, _ = says(t, at, 0, "graph", "--auth", "digest:ann:secret", "/")
		require.NotContains(t, stdout, "not read")
	})
}

// TestUnknownScheme: the servers are there, and refuse the credential.
func TestUnknownScheme(t *testing.T) {
	eachServer(t, func(t *testing.T, at place) {
		says(t, at, 70, patiently("queue", "--auth", "nonsense:x", "/x")...)
		r := parsed[report](t, at, 1, patiently("doctor", "--json", "--auth", "nonsense:x")...)
		_, found, do := r.grade(t, "session")
		require.Contains(t, found, "refuse the credential")
		require.Contains(t, do, "--auth")
	})
}
