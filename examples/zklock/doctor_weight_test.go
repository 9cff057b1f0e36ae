package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// dumped is the dump of a leader; other servers list the sessions with their timeouts.
const dumped = `SessionTracker dump:
Session Sets (2)/(3):
2 expire at Thu Jan 01 00:10:00 UTC 1970:
	0x1000
	0x1001
ephemeral nodes dump:
Sessions with Ephemerals (3):
0x1000:
	/a/_c_x-lock-0000000001
0x1001:
	/b/_c_x-lock-0000000001
	/b/_c_y-lock-0000000002
0x1002:
	/b/_c_z-lock-0000000003
	/brokers/7
Connections dump:
Connections Sets (1)/(1):
`

// TestDump: the heaviest first; and the contenders of a session that is not alive, nobody else's nodes.
func TestDump(t *testing.T) {
	const one, two = 4 + len("/b/_c_x-lock-0000000001"), 4 + len("/brokers/7")
	d := readDump(dumped)
	require.Equal(t, []load{{"0x1001", 2, 2 * one}, {"0x1002", 2, one + two}, {"0x1000", 1, one}}, d.loads)
	require.Equal(t, []string{"/b/_c_z-lock-0000000003"}, d.kept)
	require.Equal(t, map[string]bool{"0x1000": true, "0x1001": true}, d.alive)

	follower := readDump(strings.Replace(dumped, "\t0x1000\n\t0x1001\n", "0x1000\t10000ms\n0x1001\t4000ms\n", 1))
	require.Equal(t, d, follower)
	ended := d.stillKept(readDump(strings.Replace(dumped, "\t/b/_c_z-lock-0000000003\n", "\t/b/_c_w-lock-0000000004\n", 1)))
	require.Empty(t, ended.kept, "another node: its session came and went meanwhile")
	require.Equal(t, d.kept, d.stillKept(d).kept)
	require.Empty(t, readDump("Sessions with Ephemerals (0):\n").loads)
}

// TestDumpsAreAsked: a contender that the server has kept beyond the end of its session, and a session that weighs too
// much, are told. A list without our own session proves nothing of sessions.
func TestDumpsAreAsked(t *testing.T) {
	large := strings.Repeat("\t/large/_c_0123456789abcdef0123456789abcdef-lock-0000000001\n", 10_000)
	at := answering(t, "127.0.0.1:0", dumped+"0x1001:\n"+large)
	for ours, kept := range map[string]int{"0x1000": 1, "0x1": 0} {
		e := &examination{tell: func(finding) {}, timeout: time.Minute, session: ours, addresses: []serverAddress{{at, "", at}}}
		e.lookAtDumps(t.Context())
		require.Len(t, e.findings, 1+kept)
		require.Equal(t, "weight", e.findings[0].What)
		require.Equal(t, odd, e.findings[0].Grade)
		require.Contains(t, e.findings[0].Found, "the heaviest session is 0x1001: 10000 ephemeral nodes")
		for _, f := range e.findings[1:] {
			require.Equal(t, "no session", f.What)
			require.Equal(t, broken, f.Grade)
			require.Contains(t, f.Found, at+" has /b/_c_z-lock-0000000003, and not its session")
			require.Contains(t, f.Do, "ZOOKEEPER-4541")
		}
	}
}
