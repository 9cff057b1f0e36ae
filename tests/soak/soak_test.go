package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// TestMain plays the client when the controller under test starts this binary as one.
func TestMain(m *testing.M) {
	rig.Ordered(clientVariable, order.run)
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// small are the flags of a soak with few clients.
var small = []string{"-clients", "2", "-workers", "3", "-locks", "9", "-calm", "2", "-calm-workers", "2", "-calm-locks", "4"}

// Every kind of fault once, with few clients: what must be zero is.
func TestRealSoakShort(t *testing.T) {
	rig.Require(t)
	o, err := parse(append(small, "-duration", "20s", "-session", "1500ms", "-every", "300ms", "-quiet", "60s", "-v"), t.Output())
	require.NoError(t, err)
	o.AllKinds = true
	// Without a bound of its own: go test has one, and every wait here is bounded.
	found, err := soak(context.Background(), o, t.Output())
	require.NoError(t, err)
	require.True(t, found.clean(), "%+v", found)
	require.NotZero(t, found.Counts[granted])
	kinds := map[lockKind]bool{}
	for lock := range o.Locks + o.CalmLocks {
		kinds[o.kindOf(lock)] = true
	}
	require.Len(t, kinds, int(cohortKind)+1, "every kind of lock")
	for _, f := range slices.Concat((&stage{}).all()...) {
		require.NotZero(t, found.Faults[f.name], f.name)
	}
}

// The same with nothing broken: no lease is lost by the soak's own doing, unless the machine stands
// still for longer than leases last.
func TestRealSoakWithoutFaults(t *testing.T) {
	rig.Require(t)
	o, err := parse(append(small, "-duration", "2s", "-faults", "none", "-session", "5s", "-quiet", "1s", "-hold", "5ms"), t.Output())
	require.NoError(t, err)
	o.Grants = 20
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	found, err := soak(ctx, o, t.Output())
	require.NoError(t, err)
	require.True(t, found.clean(), "%+v", found)
	require.GreaterOrEqual(t, found.Counts[granted], o.Grants)
	require.Empty(t, found.Faults)
}

func TestFaultsAreChosen(t *testing.T) {
	for names, wrong := range map[string]bool{"leader-kill,earthquake": true, "leader-kill,client-pause": false, "none": false} {
		_, err := parse([]string{"-faults", names}, t.Output())
		require.Equal(t, wrong, err != nil, names)
	}
}

// TestRealMembersComeBack: members that were killed, one that was paused, and one whose port somebody else has for a while.
// One that never comes back ends the ensemble's life in bounded time, and its log says why.
func TestRealMembersComeBack(t *testing.T) {
	var said strings.Builder
	over := false
	s := &stage{options: options{Session: time.Second}, out: &said, repair: repairBound, judge: newJudge(1, func(string, string) {}),
		end: func() { over = true }}
	s.ensemble = rig.StartPartitionable(t, members, s.members()...)
	all := s.ensemble.Members()
	take := func() net.Listener {
		require.NoError(t, all[1].Kill())
		stranger, err := net.Listen("tcp", all[1].Addr())
		require.NoError(t, err)
		return stranger
	}
	passing := take()
	require.NoError(t, all[0].Kill())
	require.NoError(t, all[2].Pause())
	go func() {
		time.Sleep(3 * time.Second) // for as long as it takes to fail once
		_ = passing.Close()
	}()
	require.NoError(t, s.mend())
	require.NoError(t, s.together(t.Context()))
	require.False(t, over)

	stranger := take()
	defer stranger.Close()
	s.repair = 5 * time.Second
	require.Error(t, s.mend())
	require.True(t, over && s.early, "the soak is to go on with a new ensemble")
	require.Contains(t, said.String(), "Address already in use")
	require.Contains(t, said.String(), "Full thread dump")
	counts, _ := s.judge.result()
	require.Equal(t, 1, counts[unrepaired])
}
