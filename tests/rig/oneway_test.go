package rig_test

import (
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// The stream from the leader to one follower stalls, or is slow, and nothing else: the follower's requests are committed,
// its client hears of it after Heal, and the rest works. Likewise the other way.
func TestLinkIsOneWay(t *testing.T) {
	t.Parallel()
	p := rig.StartPartitionable(t, 3, rig.WithConfig("syncLimit", "100")) // nobody is given up for being slow
	leader, err := p.Leader(scene.Deadline(t))
	require.NoError(t, err)
	var followers []*rig.Server
	scene.Eventually(t, func() bool {
		followers, err = p.Waiting(scene.Deadline(t))
		return err == nil && len(followers) == 2
	}, "two follow")
	atLeader, atFollower := connect(t, leader.Addr()), connect(t, followers[0].Addr())
	reader := connect(t, followers[0].Addr()) // a server answers no read of a session before its writes
	begin := func(path string) <-chan error {
		answered := make(chan error, 1)
		go func() {
			_, err := atFollower.Create(path, nil, 0, zk.WorldACL(zk.PermAll))
			answered <- err
		}()
		return answered
	}

	down, up := p.Link(leader, followers[0]), p.Link(followers[0], leader)
	down.Stall()
	answered := begin("/down")
	scene.Eventually(t, func() bool { return exists(t, atLeader, "/down") }, "the request of the follower's client is committed")
	create(t, atLeader, "/else")
	require.False(t, len(answered) > 0 || exists(t, reader, "/else"), "the follower has heard of a commit")
	down.Heal()
	require.NoError(t, scene.Receive(t, answered))
	require.True(t, exists(t, reader, "/down") && exists(t, reader, "/else"), "what was held back arrives in order")

	up.Stall()
	answered = begin("/up")
	create(t, atLeader, "/seen")
	scene.Eventually(t, func() bool { return exists(t, reader, "/seen") }, "the follower hears of commits")
	require.False(t, len(answered) > 0 || exists(t, atLeader, "/up"), "a request of the follower's client has passed")
	up.Heal()
	require.NoError(t, scene.Receive(t, answered))

	const delay = 150 * time.Millisecond
	for path, slow := range map[string]*rig.OneWay{"/slow-up": up, "/slow-down": down} {
		slow.Delay(delay)
		began := time.Now()
		create(t, atFollower, path)
		require.GreaterOrEqual(t, time.Since(began), delay, path)
		slow.Heal()
	}
}
