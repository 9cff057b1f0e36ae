package restarts

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestReclaimThroughFaults: a holder is killed and started again, and the transaction by which it takes its lock back
// meets a fault between it and its server. It takes the lock back all the same, at the same place, with a greater token
// and in its own session, and nobody else holds in between.
func TestReclaimThroughFaults(t *testing.T) {
	for name, action := range map[string]rig.Action{
		"cut": rig.CutBefore, "lost reply": rig.DropReply, "silence": rig.Delay,
	} {
		t.Run(name, func(t *testing.T) {
			stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
				proxy := at.Proxy(t)
				r := reclaimer{proxy.Addr() + at.Root(), reclaimed, sessionFile(t), "me", patient.Session}
				p := r.start(t)
				p.opened(t)
				last := p.holds(t)
				w := onlookerOf(t, at)
				require.NoError(t, p.Kill())
				fault := proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: action,
					Path: func(path string) bool { return strings.HasPrefix(path, at.Root()+reclaimed+"/") }})
				p = r.start(t)
				p.opened(t)
				select {
				case <-fault.Fired():
				case <-patient.Deadline(t).Done():
					require.Fail(t, "nothing was asked for through the proxy")
				}
				if action == rig.Delay {
					patient.CatchUp(t, w.client) // the servers have carried it out, and are heard no more
					require.Empty(t, w.got)
					proxy.Cut()
				}
				next := p.holds(t)
				require.Greater(t, next.token, last.token)
				require.NotEqual(t, last.session, next.session)
				require.Equal(t, number(last.node), number(next.node))
				require.Empty(t, w.got, "nobody else has held")
				p.gives(t)
				lease := w.holds(t)
				require.Greater(t, lease.Token(), next.token)
				patient.GiveBack(t, lease)
				stories.AwaitNone(t, at, reclaimed)
			})
		})
	}
}
