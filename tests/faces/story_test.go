package faces

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// story has the servers, two sessions, and the request that a cell is about.
type story struct {
	at      *scene.Servers
	o       scene.Outside
	proxy   *rig.Proxy // between the session of one and a server
	one     asker
	other   asker
	path    string
	subject request
	held    *messages.Held // the grant of the first holder
	expired bool           // the session of one
}

func newStory(t *testing.T, f face, at *scene.Servers, path string) *story {
	t.Helper()
	proxy := at.Proxy(t)
	return &story{at: at, o: scene.Look(t, at), proxy: proxy, path: path,
		one:   f.open(t, proxy.Addr()+at.Root(), scene.Session),
		other: f.open(t, at.Connect(), scene.Session)}
}

// ask has somebody ask for the lock as it comes.
func (s *story) ask(t *testing.T, from asker) request {
	t.Helper()
	return from.ask(t, messages.Acquire{Path: s.path})
}

// fault arms one for the next request of its kind.
func (s *story) fault(op rig.OpCode, action rig.Action) *rig.Fault {
	return s.proxy.Expect(rig.Rule{Op: op, Action: action})
}

// expire ends the session of one while it cannot connect.
func (s *story) expire(t *testing.T, meanwhile ...func()) {
	t.Helper()
	id, password, ok := s.proxy.Session()
	require.True(t, ok)
	s.proxy.Refuse(true)
	s.proxy.Cut()
	require.NoError(t, rig.ExpireSession(scene.Deadline(t), s.at.Members[0].Addr(), id, password))
	for _, happens := range meanwhile {
		happens()
	}
	s.proxy.Refuse(false)
	s.expired = true
}

// reaches waits until the subject comes into a state for the nth time.
func (s *story) reaches(t *testing.T, state messages.State, n int) messages.Transition {
	t.Helper()
	tr, err := s.subject.recorder().AwaitNth(scene.Deadline(t), state, n)
	require.NoError(t, err)
	return tr
}

// frees has a holder give the lock back, and waits for its end.
func frees(t *testing.T, holder request) {
	t.Helper()
	holder.giveBack()
	holder.ended(t, nil)
}

// notice is a notice that must come: its type, and where it has a reason, one of these.
type notice struct {
	of      any
	reasons []messages.Reason
}

func told(of any, reasons ...messages.Reason) notice { return notice{of, reasons} }

// requireTold checks that an observer of a request that has ended was told exactly these notices,
// in order. The grant must be the same in all.
func requireTold(t *testing.T, r request, grant messages.Grant, want ...notice) {
	t.Helper()
	var got []any
	scene.Eventually(t, func() bool { // it may be a little behind
		if got = scene.Notices(r.recorder()); len(got) == 0 {
			return false
		}
		_, reason := contents(got[len(got)-1])
		return reason != messages.ReasonNone // one that ends
	}, "the end is never told")
	require.Len(t, got, len(want), "%+v", got)
	for i, n := range got {
		require.IsType(t, want[i].of, n, "%+v", got)
		of, reason := contents(n)
		require.Equal(t, grant, of)
		require.True(t, want[i].reasons == nil && reason == "" || slices.Contains(want[i].reasons, reason),
			"%T %q instead of %q", n, reason, want[i].reasons)
	}
}

// contents gives the grant of a notice, and its reason.
func contents(n any) (messages.Grant, messages.Reason) {
	_, reason := messages.EndOf(n)
	return reflect.ValueOf(n).Elem().FieldByName("Grant").Interface().(messages.Grant), reason
}

// requireWent holds the states of a request that has ended against a pattern.
func requireWent(t *testing.T, r request, pattern ...actorstest.Part) {
	t.Helper()
	ended := func(s messages.State) bool { return s.Terminal() }
	scene.Eventually(t, func() bool { return slices.ContainsFunc(r.recorder().States(), ended) }, "it never ends")
	require.NoError(t, actorstest.Match(r.recorder().States(), pattern...))
}
