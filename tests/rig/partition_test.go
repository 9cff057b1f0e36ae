package rig

import (
	"strings"
	"testing"
	"time"
)

// A leader that is cut off, and one that nobody hears any more, are replaced;
// once healed they follow, and what was written meanwhile is there.
func TestIsolatedLeaderIsReplaced(t *testing.T) {
	t.Parallel()
	Require(t)
	p, err := NewPartitionable(3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	ctx := testContext(t)
	for name, isolate := range map[string]func(int){"/cut": p.CutOff, "/silent": p.Silence} {
		leader, err := p.Leader(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var others []string
		number := 0
		for i, member := range p.Members() {
			if member == leader {
				number = i
			} else {
				others = append(others, member.Addr())
			}
		}
		begin := time.Now()
		isolate(number)
		eventually(t, "another leads", func() bool {
			next, err := p.Leader(ctx)
			return err == nil && next != leader
		})
		t.Logf("%s: another leads after %v", strings.TrimPrefix(name, "/"), time.Since(begin))
		create(t, connect(t, others...), name, 0)
		p.Heal()
		eventually(t, "two follow", func() bool {
			followers, err := p.Waiting(ctx)
			return err == nil && len(followers) == 2
		})
		if !exists(t, connect(t, leader.Addr()), name) {
			t.Errorf("%s is not on the member that was isolated", name)
		}
	}
}
