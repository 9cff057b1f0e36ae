package rig

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

func TestEnsembleSurvivesItsLeader(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	begin := time.Now()
	ensemble := StartEnsemble(t, 3)
	t.Logf("all serve after %v", time.Since(begin))
	leader, err := ensemble.Leader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	awaitFollowers(t, ensemble, 2)
	c := connect(t, strings.Split(ensemble.Addrs(), ",")...)
	create(t, c, "/kept", 0)

	begin = time.Now()
	if err := leader.Kill(); err != nil {
		t.Fatal(err)
	}
	next, err := ensemble.Leader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("another leads after %v", time.Since(begin))
	if next == leader {
		t.Error("a dead server leads")
	}
	if err := leader.Restart(ctx); err != nil {
		t.Fatal(err)
	}
	if mode, err := leader.Address().Mode(ctx); mode != "follower" || err != nil {
		t.Errorf("the old leader is %q, %v", mode, err)
	}
	if !exists(t, connect(t, leader.Addr()), "/kept") {
		t.Error("the node is gone")
	}
	checkSessionsEverywhere(t, ensemble)
	checkQuorumLoss(t, ensemble)
}

// checkSessionsEverywhere expires a session of one member through another.
func checkSessionsEverywhere(t *testing.T, ensemble *Ensemble) {
	t.Helper()
	ctx := testContext(t)
	members := ensemble.Members()
	proxy := NewProxy(t, members[0].Addr())
	victim := connect(t, proxy.Addr())
	create(t, victim, "/mortal", zk.FlagEphemeral)
	for _, member := range members {
		sessions, err := member.Address().Sessions(ctx)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s knows %d sessions", member.Addr(), sessions)
	}
	id, password, _ := proxy.Session()
	proxy.Refuse(true)
	if err := ExpireSession(ctx, members[1].Addr(), id, password); err != nil {
		t.Fatal(err)
	}
	if exists(t, connect(t, members[1].Addr()), "/mortal") {
		t.Error("the session's node is still there")
	}
	proxy.SetTarget(members[2].Addr())
	proxy.Refuse(false)
	eventually(t, "the client knows", func() bool { return victim.saw(zk.StateExpired) })
}

// checkQuorumLoss pauses and kills until nobody leads, and brings all back.
func checkQuorumLoss(t *testing.T, ensemble *Ensemble) {
	t.Helper()
	ctx := testContext(t)
	leader, err := ensemble.Leader(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := leader.Pause(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if next, err := ensemble.Leader(ctx); err != nil || next == leader {
		t.Fatalf("next leader: %v", err)
	}
	t.Logf("another leads %v after the leader was paused", time.Since(begin))
	if err := leader.Kill(); err != nil {
		t.Fatal(err)
	}
	followers := awaitFollowers(t, ensemble, 1)
	if err := followers[0].Kill(); err != nil {
		t.Fatal(err)
	}
	var restarting sync.WaitGroup
	for _, member := range []*Server{leader, followers[0]} {
		restarting.Go(func() {
			if err := member.Restart(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	restarting.Wait()
	awaitFollowers(t, ensemble, 2)
}

// awaitFollowers waits until so many follow. A busy one may be late to say so.
func awaitFollowers(t *testing.T, ensemble *Ensemble, n int) (followers []*Server) {
	t.Helper()
	ctx := testContext(t)
	eventually(t, fmt.Sprintf("%d follow", n), func() bool {
		var err error
		followers, err = ensemble.Waiting(ctx)
		return err == nil && len(followers) == n
	})
	return followers
}
