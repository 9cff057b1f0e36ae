package activation

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/activation"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestStorms: three nodes with sessions, and one that locks over the gateway of another, activate one
// identity again and again, under a storm of messages, while sessions are cut off and expire, the lock is
// asked for, and actors are stopped, poisoned and panic. The witness never sees two of them served with
// valid leases; tokens never go back; and in the end nothing is left. TURNSTILE_ACTIVATION_SEEDS says how
// many seeds.
func TestStorms(t *testing.T) {
	seeds := 10
	if more := os.Getenv("TURNSTILE_ACTIVATION_SEEDS"); more != "" {
		n, err := strconv.Atoi(more)
		require.NoError(t, err)
		seeds = n
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			virtually(t, func(t *testing.T, server *embedded.Server) { storm(t, server, uint64(seed)) })
		})
	}
}

// post keeps an identity active on a node: it spawns it anew when it has stopped, and sends it messages.
type post struct {
	*node
	journal *journal
	random  *rand.Rand

	mu  sync.Mutex
	pid *actor.PID
}

func (p *post) run(ctx context.Context, grace time.Duration) {
	for n := 0; ctx.Err() == nil; n++ {
		if pid := p.now(); pid == nil || !p.alive(pid) {
			p.mu.Lock()
			p.pid = p.system.Root.Spawn(p.props(p.journal, messages.Acquire{Path: path, Grace: grace}, activation.WithKept(50)))
			p.mu.Unlock()
		}
		var message any = work{n: n, lasts: time.Duration(p.random.IntN(300)) * time.Millisecond}
		switch p.random.IntN(200) {
		case 0:
			message = fail{}
		case 1:
			message = work{n: n, lasts: time.Duration(p.random.IntN(20)) * time.Second}
		}
		for range 1 + p.random.IntN(3) {
			p.send(p.now(), message)
		}
		time.Sleep(time.Duration(p.random.IntN(400)) * time.Millisecond)
	}
	p.system.Root.Stop(p.now())
}

func (p *post) now() *actor.PID {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pid
}

// strike does one of the things that may happen to a node, or to its actor.
func (p *post) strike(t *testing.T, client *locks.Client, random *rand.Rand) {
	switch random.IntN(6) {
	case 0, 1, 2: // for 0 to 2 session timeouts
		p.line.Be(scene.Down)
		time.Sleep(time.Duration(random.Int64N(int64(2 * timeout))))
		p.line.Be(scene.Up)
	case 3:
		p.system.Root.Stop(p.now())
	case 4:
		p.system.Root.Poison(p.now())
	case 5:
		_, err := client.Revoke(t.Context(), path)
		require.NoError(t, err)
	}
}

func storm(t *testing.T, server *embedded.Server, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	j, client := &journal{}, scene.Client(t, server)
	ctx, stop := context.WithCancel(t.Context())
	nodes := []*node{newNode(t, server, "a"), newNode(t, server, "b"), newNode(t, server, "c")}
	pid, err := gateway.Spawn(nodes[0].system, nodes[0].session, "locks")
	require.NoError(t, err)
	over := *nodes[0]
	over.name, over.from = "over the gateway", gateway.At(pid)
	var posts []*post
	var running sync.WaitGroup
	for i, n := range append(nodes, &over) {
		p := &post{node: n, journal: j, random: rand.New(rand.NewPCG(seed, uint64(2+i)))}
		posts = append(posts, p)
		grace := time.Duration(random.IntN(2)) * 5 * time.Second
		running.Go(func() { p.run(ctx, grace) })
	}
	time.Sleep(time.Second)
	for range 30 {
		posts[random.IntN(len(posts))].strike(t, client, random)
		time.Sleep(time.Duration(random.IntN(5000)) * time.Millisecond)
	}
	time.Sleep(time.Minute)
	stop()
	running.Wait()
	time.Sleep(2 * time.Minute)
	require.Empty(t, j.wrong)
	served := 0 // of the nodes: whose turn it is, is a matter of chance
	for _, p := range posts {
		if len(j.served(p.name)) > 0 {
			served++
		}
		require.False(t, p.alive(p.now()))
	}
	require.Greater(t, served, 1)
	require.Greater(t, len(j.entries), 100)
	last := scene.Locked(t, client.Mutex(path).Lock)
	scene.GiveBack(t, last)
	time.Sleep(time.Minute)
	queue, err := client.Queue(t.Context(), path)
	require.NoError(t, err)
	require.Empty(t, queue, "no node is left")
}
