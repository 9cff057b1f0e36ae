package actors

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/stage"
	"github.com/turnstile-locks/turnstile/tests/stories"
)

// TestRecorderFollowsARequest: the recorder has everything, in order, and says what it waited for in vain.
func TestRecorderFollowsARequest(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s := stage.New(t, at.Connect())
		r := s.Spawn(t, "/recorded")
		held := r.Hold(t)

		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := r.Rec.Await(ctx, messages.StateReleased)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		went := actorstest.Story([]messages.State{messages.StateCreating, messages.StateHeld})
		require.ErrorContains(t, err, "awaiting released after "+went)
		_, err = r.Rec.AwaitNth(ctx, messages.StateHeld, 2)
		require.ErrorIs(t, err, context.DeadlineExceeded)

		r.Send(&messages.Release{})
		last := patient.Await(t, r.Rec, messages.StateReleased)
		require.Equal(t, messages.ReasonReleased, last.Reason)
		_, err = r.Rec.Await(patient.Deadline(t), messages.StateLost)
		all := []messages.State{messages.StateCreating, messages.StateHeld, messages.StateReleasing, messages.StateReleased}
		require.ErrorContains(t, err, "awaiting lost: the request ended: "+actorstest.Story(all))

		transitions := r.Rec.Transitions()
		require.Len(t, transitions, len(all))
		require.Equal(t, all, r.Rec.States())
		require.Zero(t, transitions[0].Token)
		for _, tr := range transitions[1:] {
			require.Equal(t, held.Grant, tr.Grant)
			require.Equal(t, held.Session, tr.Session)
		}
		patient.Eventually(t, func() bool { return len(r.Rec.Notices()) == 2 }, "two notices")
		require.Equal(t, []any{held, &messages.Released{Grant: held.Grant, Reason: messages.ReasonReleased}}, r.Rec.Notices())

		transitions[0].Path = "changed"
		require.Equal(t, "/recorded", r.Rec.Transitions()[0].Path, "what the recorder gives away is a copy")
	})
}

func TestRecorderKeepsWhatItHasWhenItIsClosed(t *testing.T) {
	stories.EachServer(t, func(t *testing.T, at *stories.Servers) {
		s := stage.New(t, at.Connect())
		r := s.Spawn(t, "/closed-recorder")
		patient.Await(t, r.Rec, messages.StateHeld)
		r.Rec.Close()
		r.Send(&messages.Release{})
		require.IsType(t, &messages.Held{}, r.Finish(t)[0])
		require.NoError(t, actorstest.Match(r.Rec.States(), append(stage.Straight(messages.StateHeld),
			actorstest.Whatever())...))
	})
}
