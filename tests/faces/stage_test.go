package faces

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

// program asks by lock actors.
type program struct{ *scene.Stage }

func openStage(t *testing.T, connect string, timeout time.Duration) asker {
	return program{scene.NewStageFor(t, connect, timeout)}
}

func (p program) session() int64     { return p.Session.ID() }
func (p program) close(t *testing.T) { require.NoError(t, p.Session.Close(scene.Deadline(t))) }

func (p program) ask(t *testing.T, want messages.Acquire) request {
	t.Helper()
	return &spawned{r: p.SpawnFor(t, want)}
}

// spawned is a lock actor with its parent.
type spawned struct {
	r    *scene.Request
	told []any // the notices that the parent has got so far
}

func (s *spawned) recorder() *actorstest.Recorder { return s.r.Rec }

func (s *spawned) hold(t *testing.T) *messages.Held {
	t.Helper()
	held := s.r.Hold(t)
	s.told = append(s.told, held)
	return held
}

func (s *spawned) giveBack() { s.r.Send(&messages.Release{}) }

func (s *spawned) giveUp() { s.r.Send(&messages.Cancel{}) }

func (s *spawned) asked(t *testing.T) {
	t.Helper()
	s.told = append(s.told, scene.Notice[*messages.RevokeRequested](t, s.r))
}

func (s *spawned) resumed(t *testing.T) {
	t.Helper()
	s.told = append(s.told, scene.Notice[*messages.Suspended](t, s.r), scene.Notice[*messages.Resumed](t, s.r))
}

func (s *spawned) revoke(*testing.T) { s.r.Send(&messages.Revoke{}) }

func (s *spawned) rests(t *testing.T) { t.Helper(); require.Empty(t, s.r.Told) }

// ended: the parent is told each notice once, as the observer is. The error is for callers only:
// notices have a reason.
func (s *spawned) ended(t *testing.T, _ error) {
	t.Helper()
	told := append(s.told, s.r.Finish(t)...)
	scene.Eventually(t, func() bool { return len(scene.Notices(s.r.Rec)) >= len(told) },
		"the observer is told less: %v", told)
	require.Equal(t, told, scene.Notices(s.r.Rec))
	s.told = told
}

func (s *spawned) why() string { return s.told[len(s.told)-1].(*messages.Failed).Detail }
