package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// TestRealMemberThatDoesNotComeBack: while somebody else has its port it is started again; it comes back as soon as it
// can, and when it never can, that ends in bounded time, says why, and ends the ensemble's life. A member that has
// gone by itself is brought back, too.
func TestRealMemberThatDoesNotComeBack(t *testing.T) {
	o, err := parse(nil, nil)
	require.NoError(t, err)
	ensemble := rig.StartPartitionable(t, o.members, o.ensemble()...)
	var mu sync.Mutex
	var said strings.Builder
	told := make(chan struct{}, 100)
	c := &chaos{o: o, ensemble: ensemble, judge: newJudge(1, o.session, func(string, string) {}), count: map[string]int{},
		say: func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintf(&said, format+"\n", args...)
			told <- struct{}{}
		}}
	over := false
	c.judge.differed = func() { over = true }
	member := ensemble.Members()[1]
	take := func() net.Listener {
		require.NoError(t, member.Kill())
		stranger, err := net.Listen("tcp", member.Addr())
		require.NoError(t, err)
		return stranger
	}

	first := take()
	go func() {
		<-told
		_ = first.Close()
	}()
	require.NoError(t, c.repaired(), "what has gone by itself is started")
	require.False(t, over)
	require.Contains(t, said.String(), "does not come back (try 1 of 3)")
	require.Contains(t, member.Threads(), "Full thread dump")

	stranger := take()
	defer stranger.Close()
	begun := time.Now()
	require.ErrorIs(t, c.repaired(), errNoComeback)
	require.Less(t, time.Since(begun), restarts*(serveBound+10*time.Second))
	require.True(t, over, "the soak is to go on with a new ensemble")
	require.Contains(t, said.String(), "(try 3 of 3)")
	require.Contains(t, said.String(), "Address already in use")
	require.Equal(t, 1, c.judge.result(o, time.Second).Unrepaired)
}

// TestRealKilledMembersComeBack: a fault that kills a member leaves a whole ensemble behind.
func TestRealKilledMembersComeBack(t *testing.T) {
	o, err := parse([]string{"-session", "400ms"}, nil)
	require.NoError(t, err)
	ensemble := rig.StartPartitionable(t, o.members, o.ensemble()...)
	c := &chaos{o: o, ensemble: ensemble, judge: newJudge(1, o.session, func(string, string) {}), count: map[string]int{}, say: t.Logf}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, fault := range chosen(c.ensembleFaults(), "member-kill,leader-kill,quorum-loss") {
		require.NoError(t, fault.do(t.Context(), rng), fault.name)
		require.NoError(t, c.together(t.Context()))
	}
}
