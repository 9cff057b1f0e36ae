package services

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

const (
	// long is a session timeout under which no lease runs out because the machine is slow.
	long = patient.Session
	// short is one that a cell waits for whose lock is lost.
	short = 8 * time.Second
	// boundOfHolds is the bound for WithMaxHold, in real time: the fault comes before it.
	boundOfHolds = 5 * time.Second
)

// TestOnServers: the cells in real time, all at once: they mostly wait.
func TestOnServers(t *testing.T) {
	for _, c := range cells {
		for _, k := range kindsOf(c.fault) {
			t.Run(string(c.ability)+"/"+string(c.fault)+"/"+k.name, func(t *testing.T) {
				t.Parallel()
				t.Log(c.must)
				inTime(t, func() bool { return c.play(t, realWorld(t, k)) })
			})
		}
	}
}

// inTime plays a cell until the machine was fast enough for its session timeout.
func inTime(t *testing.T, play func() bool) {
	t.Helper()
	for range 10 {
		if play() {
			return
		}
		t.Log("the hold was over before the fault: once more")
	}
	t.Fatal("the machine is too slow")
}

// real is a world of servers in real time; the subject's connections go through proxies, one for each member that it
// may connect to.
type real struct {
	kind    *kind
	at      string // the lock path
	proxies []*rig.Proxy
	subject *locks.Client // unless it is in a process
}

func realWorld(t *testing.T, k *kind) *real {
	t.Helper()
	k.use(t)
	w := &real{kind: k, at: fmt.Sprintf("/lock-%d", paths.Add(1))}
	for _, m := range k.members[:min(2, len(k.members))] {
		w.proxies = append(w.proxies, rig.NewProxy(t, m.Addr()))
	}
	for _, p := range w.proxies[1:] {
		p.Refuse(true) // until the first connection is lost
	}
	return w
}

func (w *real) others(*testing.T) *locks.Client { return w.kind.others }
func (w *real) path() string                    { return w.at }

func (w *real) begin(t *testing.T, c cell) (*subject, *child.Process) {
	t.Helper()
	o := order{Ability: c.ability, Connect: listOf(w.kind.members), Path: w.at, Timeout: c.bounds.timeout,
		Hold: c.bounds.hold, Rejoins: c.rejoins()}
	if o.Timeout == 0 && c.ends == lost {
		o.Timeout = short
	} else if o.Timeout == 0 {
		o.Timeout = long
	}
	if o.Hold == 0 {
		o.Hold = boundOfHolds
	}
	if c.fault == pause || c.fault == kill {
		return elsewhere(t, o)
	}
	var through []string
	for _, p := range w.proxies {
		through = append(through, p.Addr())
	}
	w.subject = patient.Open(t, strings.Join(through, ","), locks.WithSessionTimeout(o.Timeout))
	return here(t, w.subject, o), nil
}

func (w *real) settle()     {}
func (w *real) exact() bool { return false }

func (w *real) expire(t *testing.T, session int64) {
	t.Helper()
	p := w.proxies[0]
	id, password, ok := p.Session()
	require.True(t, ok)
	require.Equal(t, session, id)
	p.Refuse(true) // a client that comes back at once could take its session back
	require.NoError(t, rig.ExpireSession(patient.Deadline(t), w.kind.members[0].Addr(), id, password))
	p.Refuse(false)
}

func (w *real) cut(t *testing.T) {
	t.Helper()
	phase := func(want actors.Phase) func() bool {
		return func() bool { return w.subject.State().Phase == want }
	}
	w.proxies[0].Refuse(true)
	w.proxies[0].Cut()
	patient.Eventually(t, phase(actors.Disconnected), "it does not hear of it")
	w.last().Refuse(false)
	patient.Eventually(t, phase(actors.Connected), "it never connects again")
}

// moveOn lets the client connect to the second member from now on, where there is one, and not to the first.
func (w *real) moveOn() {
	if len(w.proxies) > 1 {
		w.proxies[0].Refuse(true)
		w.last().Refuse(false)
	}
}

func (w *real) last() *rig.Proxy { return w.proxies[len(w.proxies)-1] }

func (w *real) silence() { w.proxies[0].Stall(rig.Up) }
func (w *real) heal()    { w.proxies[0].Resume(rig.Up) }

func (w *real) lose(t *testing.T, what change) (wait func()) {
	t.Helper()
	op := map[change]rig.OpCode{creates: rig.OpCreate, deletes: rig.OpDelete}[what]
	at := w.proxies[0]
	if w.last().Connections() > 0 {
		at = w.last()
	}
	fault := at.Expect(rig.Rule{Op: op, Action: rig.DropReply,
		Path: func(path string) bool { return strings.HasPrefix(path, w.at+"/") }})
	moved, ctx := make(chan struct{}), patient.Deadline(t)
	go func() {
		defer close(moved)
		select {
		case <-fault.Fired():
			w.moveOn()
		case <-ctx.Done():
		}
	}()
	return func() {
		<-moved
		require.NoError(t, ctx.Err(), "no reply to a %s was lost", what)
	}
}
