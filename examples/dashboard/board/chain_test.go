package board

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/messages"
)

// wentThrough is the phases of the own session as text.
func wentThrough(phases []PhaseRow) string {
	var all []string
	for _, p := range phases {
		all = append(all, fmt.Sprintf("%s %d %s", p.State, p.Epoch, p.Session))
	}
	return strings.Join(all, ", ")
}

// TestChain: a phase for each state and session, a proof for each reading by which leases last longer, and nothing for
// readings that say the same.
func TestChain(t *testing.T) {
	b := New("/")
	at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	one := actors.Connection{Phase: actors.Connecting, Epoch: 1, Timeout: 10 * time.Second, MaxNodeBytes: 1000}
	b.TakeSession(at(0), one)
	one.Phase, one.Server, one.ID, one.Lease = actors.Connected, "zk1:2181", 0xabc, 6*time.Second
	b.TakeSession(at(1), one)
	unchanged := b.Changed()
	one.Lease = 5*time.Second + 5*time.Millisecond // a second later, as far as two looks at a clock agree
	b.TakeSession(at(2), one)
	select {
	case <-unchanged:
		t.Fatal("a reading that says the same is nothing new")
	default:
	}
	one.Lease = 6 * time.Second
	b.TakeSession(at(2.5), one)
	one.Phase, one.Lease = actors.Disconnected, 3*time.Second
	b.TakeSession(at(5.5), one)
	one.Lapsed, one.Lease = true, -time.Second
	b.TakeSession(at(9.5), one)
	two := actors.Connection{Phase: actors.Connected, Epoch: 2, ID: 0xdef, Server: "zk2:2181", Timeout: 10 * time.Second, Lease: 6 * time.Second,
		NodeBytes: 80, MaxNodeBytes: 1000}
	b.TakeSession(at(10), two)

	v := b.Overview(at(11), "", 10)
	require.Equal(t, "connecting 1 , connected 1 0xabc, disconnected 1 0xabc, lapsed 1 0xabc, connected 2 0xdef", wentThrough(v.Phases))
	var proofs []int64
	for _, p := range v.Proofs {
		proofs = append(proofs, p.At-start.UnixMilli())
	}
	require.Equal(t, []int64{1000, 2500, 10_000}, proofs)
	require.Equal(t, OwnSession{ID: "0xdef", Epoch: 2, Server: "zk2:2181", State: "connected", Timeout: 10_000,
		Until: at(16).UnixMilli(), Bytes: 80, Most: 1000, Proofs: 3, Lapses: 1}, v.Figures.Own)
	require.Equal(t, at(9.5).UnixMilli(), v.Phases[3].From)
	require.Equal(t, at(10).UnixMilli(), v.Phases[3].To)

	v = b.Overview(at(10).Add(chainBack+time.Second), "", 10)
	require.Equal(t, "connected 2 0xdef", wentThrough(v.Phases), "what is over for so long is not drawn")
	require.Empty(t, v.Proofs)
	require.Zero(t, v.Figures.Own.Lapses)
}

// TestChainIsBounded: the history of the own session is bounded, after any number of changes.
func TestChainIsBounded(t *testing.T) {
	b := New("/")
	for n := range 10 * mostProofs {
		b.TakeSession(start.Add(time.Duration(n)*time.Second), actors.Connection{Phase: actors.Connected, Epoch: uint64(n), ID: int64(n),
			Lease: time.Minute})
	}
	require.Less(t, len(b.chain.phases), 2*mostPhases)
	require.Less(t, len(b.chain.proofs), 2*mostProofs)
	ids := map[string]bool{}
	for _, p := range b.chain.phases {
		require.False(t, ids[p.ID])
		ids[p.ID] = true
	}
}

// TestSessions: the heaviest first, with what each of them holds.
func TestSessions(t *testing.T) {
	b := New("/")
	contender := func(path, node string, session int64, holds bool) messages.Contender {
		return messages.Contender{Path: path, Node: node, Session: session, Holds: holds, Host: "web", PID: int(session), Library: messages.LibraryTurnstile}
	}
	b.TakeQueue(start, &messages.Queue{Path: "/a", Contenders: []messages.Contender{contender("/a", "n-1", 1, true), contender("/a", "n-2", 2, false)}})
	b.TakeQueue(start, &messages.Queue{Path: "/b", Contenders: []messages.Contender{contender("/b", "n-1", 2, true), {Path: "/b", Node: "n-2"}}})
	v := b.Overview(start, "", 10)
	require.Equal(t, []SessionRow{
		{ID: "0x2", Who: "web:2", Library: "turnstile", Nodes: 2, Holds: 1, Bytes: 2 * (pathOverhead + len("/a/n-2"))},
		{ID: "0x1", Who: "web:1", Library: "turnstile", Nodes: 1, Holds: 1, Bytes: pathOverhead + len("/a/n-1")},
	}, v.Sessions)
	require.Equal(t, 2, v.Figures.Sessions)
}
