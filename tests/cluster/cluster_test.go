package cluster

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestMain makes the binary a member where it was told so.
func TestMain(m *testing.M) {
	rig.Ordered(memberVariable, beMember)
	os.Exit(m.Run())
}

// process is a member, with what it says.
type process struct {
	*rig.Talker
	address string
	session int64
	told    <-chan said
}

func start(t *testing.T, o membership) *process {
	t.Helper()
	cmd, err := rig.Again(memberVariable, o)
	require.NoError(t, err)
	// Data races in a member are protoactor's to look for: its own, in its cluster, would fill the output.
	cmd.Env = append(cmd.Env, "GORACE=log_path="+t.TempDir()+"/races")
	cmd.Stderr = scene.ErrorOutput(t, os.Stderr)
	talker, err := rig.Talk(cmd)
	require.NoError(t, err)
	p := &process{Talker: talker}
	told := make(chan said, 1000)
	go func() {
		for line := range p.Says {
			var s said
			if json.Unmarshal([]byte(line), &s) == nil {
				told <- s
			}
		}
		close(told)
	}()
	p.told = told
	t.Cleanup(func() { _ = p.Kill() })
	return p
}

// tell sends a command.
func (p *process) tell(t *testing.T, c command) {
	t.Helper()
	text, err := json.Marshal(c)
	require.NoError(t, err)
	require.NoError(t, p.Tell(string(text)))
}

// hear waits for an event, and passes over some others. Any other than these fails the test.
func (p *process) hear(t *testing.T, event string, over ...string) said {
	t.Helper()
	for {
		select {
		case s, open := <-p.told:
			require.True(t, open, "the member has ended")
			if slices.Contains(over, s.Event) {
				continue
			}
			require.Equal(t, event, s.Event, "%+v", s)
			return s
		case <-scene.Deadline(t).Done():
			require.FailNow(t, "never said", event)
		}
	}
}

// requireHeard fails the test if a re-list has told a waiter of the member's session what no event had, see package
// relists. A member that was killed cannot say.
func (p *process) requireHeard(t *testing.T) {
	if p.Running() {
		p.tell(t, command{Do: "relists"})
		require.NoError(t, scene.NoRelists(p.hear(t, "relists", "served").Relists)) // its grains are not asked any more
	}
}

// silent finds that a member says nothing for a while.
func (p *process) silent(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case s := <-p.told:
		t.Fatalf("said: %+v", s)
	case <-time.After(d):
	}
}

// world is a cluster of three members: two with a session, and one without.
type world struct {
	client     *locks.Client // from outside
	a, b, c    *process
	bySessions map[int64]*process
}

// mortal is the session timeout of a member that is killed. The test waits for its end; until the
// kill, its lease must last on a slow machine.
const mortal = scene.Session / 2

// eachServer runs a test in a cluster on the embedded server, and on a real one where that is
// installed. The first member has a session timeout of its own, the others scene.Session. Tests run
// beside each other: each has a server and members of its own.
func eachServer(t *testing.T, first time.Duration, test func(t *testing.T, w *world)) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		test(t, newWorld(t, embedded.Run(t, embedded.WithTick(200*time.Millisecond)).Addr(), first))
	})
	t.Run("standalone", func(t *testing.T) {
		t.Parallel()
		test(t, newWorld(t, rig.StartStandalone(t).Addr(), first))
	})
}

func newWorld(t *testing.T, servers string, first time.Duration) *world {
	t.Helper()
	w := &world{client: scene.Open(t, servers), bySessions: map[int64]*process{}}
	all := []**process{&w.a, &w.b, &w.c}
	for i, p := range all { // not at once: protoactor's provider panics when two create the cluster's node
		timeout := scene.Session
		if i == 0 {
			timeout = first
		}
		*p = start(t, membership{Servers: servers, Session: i < 2, Timeout: timeout})
		started := (*p).hear(t, "started")
		(*p).address, (*p).session = started.Address, started.Session
		if w.bySessions[started.Session] = *p; started.Session != 0 {
			t.Cleanup(func() { (*p).requireHeard(t) })
		}
	}
	for _, p := range all {
		scene.Eventually(t, func() bool {
			(*p).tell(t, command{Do: "members"})
			return (*p).hear(t, "members").Members == len(all)
		}, "all members are seen")
	}
	return w
}

// contenders is the number of nodes in a lock path.
func (w *world) contenders(t *testing.T, path string) int {
	t.Helper()
	queue, err := w.client.Queue(scene.Deadline(t), path)
	require.NoError(t, err)
	return len(queue)
}
