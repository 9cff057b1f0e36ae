package gateway

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// teller is the subject of a story: a lock actor with a recorder.
type teller struct {
	*stage
	spawn func(messages.Acquire) (*actor.PID, *actorstest.Recorder)
	omit  func(*actorstest.Recorder) // from what is told
}

// stories are the stories of actors/machine/testdata that can be brought about from outside.
var stories = []struct {
	name   string
	happen func(t *testing.T, s teller)
}{
	{"alone", func(t *testing.T, s teller) {
		lock, r := s.spawn(messages.Acquire{Path: "/story"})
		s.reach(t, r, messages.StateHeld)
		s.send(lock, &messages.Release{})
		s.reach(t, r, messages.StateReleased)
	}},
	{"queue_of_two", func(t *testing.T, s teller) {
		first, one := s.spawn(messages.Acquire{Path: "/story"})
		s.reach(t, one, messages.StateHeld)
		second, two := s.spawn(messages.Acquire{Path: "/story"})
		s.reach(t, two, messages.StateWatching)
		s.send(first, &messages.Release{})
		s.reach(t, two, messages.StateHeld)
		s.send(second, &messages.Release{})
		s.reach(t, two, messages.StateReleased)
	}},
	{"cancel_everywhere", func(t *testing.T, s teller) {
		first, one := s.spawn(messages.Acquire{Path: "/story"})
		s.reach(t, one, messages.StateHeld)
		second, two := s.spawn(messages.Acquire{Path: "/story"})
		s.reach(t, two, messages.StateWatching)
		s.send(second, &messages.Cancel{})
		s.reach(t, two, messages.StateCancelled)
		s.send(first, &messages.Cancel{})
		s.reach(t, one, messages.StateReleased)
	}},
	{"try", func(t *testing.T, s teller) {
		first, one := s.spawn(messages.Acquire{Path: "/story"})
		s.reach(t, one, messages.StateHeld)
		_, two := s.spawn(messages.Acquire{Path: "/story", Try: true})
		s.reach(t, two, messages.StateCancelled)
		s.send(first, &messages.Release{})
		s.reach(t, one, messages.StateReleased)
	}},
	{"timeout", func(t *testing.T, s teller) {
		for timeout := 200 * time.Millisecond; ; timeout *= 2 {
			path := fmt.Sprintf("/story/%d", timeout) // a node of an attempt in vain would show
			first, one := s.spawn(messages.Acquire{Path: path})
			s.reach(t, one, messages.StateHeld)
			_, two := s.spawn(messages.Acquire{Path: path, Timeout: timeout})
			s.reach(t, two, messages.StateCancelled)
			s.send(first, &messages.Release{})
			s.reach(t, one, messages.StateReleased)
			if slices.Contains(two.States(), messages.StateWatching) {
				break
			}
			require.Less(t, timeout, patient.Bound, "it never waits")
			s.omit(one) // the waiter's time was over before it waited
			s.omit(two)
		}
	}},
	{"revocation", func(t *testing.T, s teller) {
		lock, r := s.spawn(messages.Acquire{Path: "/story", Grace: 100 * time.Millisecond})
		s.reach(t, r, messages.StateHeld)
		s.send(lock, &messages.Revoke{})
		s.reach(t, r, messages.StateReleased)
	}},
	{"contest", func(t *testing.T, s teller) {
		first, one := s.spawn(messages.Acquire{Path: "/story/contest", Mode: messages.Contest})
		s.reach(t, one, messages.StateHeld)
		second, two := s.spawn(messages.Acquire{Path: "/story/contest", Mode: messages.Contest})
		s.reach(t, two, messages.StateWatching)
		s.send(first, &messages.Release{})
		s.reach(t, two, messages.StateHeld)
		s.send(second, &messages.Release{})
		s.reach(t, two, messages.StateReleased)
	}},
	{"node_deleted", func(t *testing.T, s teller) {
		_, r := s.spawn(messages.Acquire{Path: "/story"})
		s.reach(t, r, messages.StateHeld)
		other := s.direct(t)
		queue, err := other.Queue(patient.Deadline(t), "/story")
		require.NoError(t, err)
		require.NoError(t, other.Break(patient.Deadline(t), queue[0]))
		s.reach(t, r, messages.StateLost)
	}},
	{"session_expires", func(t *testing.T, s teller) {
		_, r := s.spawn(messages.Acquire{Path: "/story"})
		s.reach(t, r, messages.StateHeld)
		s.ensemble.cut(true)
		s.reach(t, r, messages.StateRecovering)
		require.NoError(t, s.server.Expire(s.session.ID()))
		s.ensemble.cut(false)
		s.reach(t, r, messages.StateLost)
	}},
	{"connection_comes_back", func(t *testing.T, s teller) {
		lock, r := s.spawn(messages.Acquire{Path: "/story"})
		s.reach(t, r, messages.StateHeld)
		s.ensemble.cut(true)
		s.reach(t, r, messages.StateRecovering)
		s.ensemble.cut(false)
		_, err := r.AwaitNth(patient.Deadline(t), messages.StateHeld, 2)
		require.NoError(t, err)
		s.send(lock, &messages.Release{})
		s.reach(t, r, messages.StateReleased)
	}},
	{"tells_more", func(t *testing.T, s teller) {
		lock, r := s.spawn(messages.Acquire{Path: "/story", TellMore: true})
		hears[*messages.Watched](t, r)
		s.send(lock, &messages.Check{})
		hears[*messages.Checked](t, r)
		s.send(lock, &messages.WatchContention{})
		next, two := s.spawn(messages.Acquire{Path: "/story", TellMore: true})
		hears[*messages.Waiting](t, two)
		hears[*messages.Contended](t, r)
		s.send(lock, &messages.Release{})
		hears[*messages.Watched](t, two)
		s.send(next, &messages.Release{})
		s.reach(t, two, messages.StateReleased)
	}},
	{"bad_input", func(t *testing.T, s teller) {
		_, r := s.spawn(messages.Acquire{Path: "bad"})
		s.reach(t, r, messages.StateFailed)
	}},
}

func (s teller) reach(t *testing.T, r *actorstest.Recorder, state messages.State) {
	t.Helper()
	_, err := r.Await(patient.Deadline(t), state)
	require.NoError(t, err)
}

// hears waits for a notice.
func hears[Notice any](t *testing.T, r *actorstest.Recorder) {
	t.Helper()
	patient.Eventually(t, func() bool {
		return slices.ContainsFunc(r.Notices(), func(notice any) bool {
			_, is := notice.(Notice)
			return is
		})
	}, "%T is told", *new(Notice))
}

func (s teller) send(lock *actor.PID, command any) { s.outside.system.Root.Send(lock, command) }

// TestStoriesAreTheSame: a recorder sees the same of a request over a gateway as of a local one:
// every change of state, with its event, and every notice.
func TestStoriesAreTheSame(t *testing.T) {
	for _, story := range stories {
		t.Run(story.name, func(t *testing.T) {
			var seen [2]string
			for i, over := range []bool{false, true} {
				t.Run(fmt.Sprint("over a gateway: ", over), func(t *testing.T) {
					seen[i] = tellStory(t, story.happen, over)
				})
			}
			require.Equal(t, seen[0], seen[1])
			t.Log("\n" + seen[1])
		})
	}
}

// tellStory lets a story happen, to requests of the node's own session or of a gateway, and gives
// what was seen of them.
func tellStory(t *testing.T, happen func(*testing.T, teller), over bool) (seen string) {
	// What a fast path has done when the turn of a waiter comes is a matter of time.
	t.Setenv("TURNSTILE_WITHOUT", strings.Join(actors.FastPaths(), ","))
	s := teller{stage: newStage(t, patient.Session)}
	if !over { // a session beside the recorder
		s.session = s.outside.open(t, s.ensemble.address(), patient.Session)
	}
	var recorders []*actorstest.Recorder
	s.spawn = func(want messages.Acquire) (*actor.PID, *actorstest.Recorder) {
		r := actorstest.NewRecorder(s.outside.system)
		t.Cleanup(r.Close)
		recorders = append(recorders, r)
		opt := actors.WithObserver(r.PID())
		if over {
			return s.outside.system.Root.Spawn(gateway.NewLock(gateway.At(s.pid), want, opt)), r
		}
		return s.outside.system.Root.Spawn(actors.NewLock(s.session, want, opt)), r
	}
	s.omit = func(r *actorstest.Recorder) {
		recorders = slices.DeleteFunc(recorders, func(other *actorstest.Recorder) bool { return other == r })
	}
	happen(t, s)
	for _, r := range recorders {
		seen += told(t, r)
	}
	return seen
}

// told writes what a recorder has seen, once the request has ended.
func told(t *testing.T, r *actorstest.Recorder) string {
	t.Helper()
	var b strings.Builder
	patient.Eventually(t, func() bool {
		notices := r.Notices()
		if len(notices) == 0 {
			return false
		}
		switch notices[len(notices)-1].(type) {
		case *messages.Released, *messages.Lost, *messages.Cancelled, *messages.Failed:
			return true
		}
		return false
	}, "the end is told")
	for _, m := range r.Transitions() {
		fmt.Fprintf(&b, "%v -%s-> %v [%s]: %s (%s)\n", m.From, m.On, m.To, m.If, m.Do, m.Reason)
	}
	for _, n := range patient.Notices(r) {
		fmt.Fprintf(&b, "%T\n", n)
	}
	return b.String()
}

// TestLocksLinkNoGRPC: a program that imports only package locks does not pay for gateways.
func TestLocksLinkNoGRPC(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), patient.Bound)
	defer stop()
	list := func(pkg string) string {
		out, err := exec.CommandContext(ctx, "go", "list", "-deps", pkg).Output()
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Log(string(failed.Stderr))
		}
		require.NoError(t, err)
		return string(out)
	}
	const module = "github.com/turnstile-locks/turnstile/"
	for _, pkg := range []string{"locks", "actors", "messages", "actors/actorstest"} {
		deps := list(module + pkg)
		for _, heavy := range []string{"google.golang.org/grpc", "protoactor-go/remote", module + "actors/gateway",
			"protocompile"} {
			require.NotContains(t, deps, heavy, pkg)
		}
	}
	deps := list(module + "actors/gateway")
	require.Contains(t, deps, "google.golang.org/grpc", "or else this test shows nothing")
	require.NotContains(t, deps, "protocompile")
}
