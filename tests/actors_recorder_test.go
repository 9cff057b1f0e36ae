package tests

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/actorstest"
	"github.com/turnstile-locks/turnstile/messages"
)

// TestRecorderFollowsARequest: the recorder has everything, in order, and says what it waited for in vain.
func TestRecorderFollowsARequest(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s := newStage(t, at.Connect())
		r := s.spawn(t, "/recorded")
		held := r.hold(t)

		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		_, err := r.rec.Await(ctx, messages.StateReleased)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		went := actorstest.Story([]messages.State{messages.StateCreating, messages.StateHeld})
		require.ErrorContains(t, err, "awaiting released after "+went)
		_, err = r.rec.AwaitNth(ctx, messages.StateHeld, 2)
		require.ErrorIs(t, err, context.DeadlineExceeded)

		r.send(&messages.Release{})
		last := await(t, r.rec, messages.StateReleased)
		require.Equal(t, messages.ReasonReleased, last.Reason)
		_, err = r.rec.Await(deadline(t), messages.StateLost)
		all := []messages.State{messages.StateCreating, messages.StateHeld, messages.StateReleasing, messages.StateReleased}
		require.ErrorContains(t, err, "awaiting lost: the request ended: "+actorstest.Story(all))

		transitions := r.rec.Transitions()
		require.Len(t, transitions, len(all))
		require.Equal(t, all, r.rec.States())
		require.Zero(t, transitions[0].Token)
		for _, tr := range transitions[1:] {
			require.Equal(t, held.Grant, tr.Grant)
			require.Equal(t, held.Session, tr.Session)
		}
		eventually(t, func() bool { return len(r.rec.Notices()) == 2 }, "two notices")
		require.Equal(t, []any{held, &messages.Released{Grant: held.Grant, Reason: messages.ReasonReleased}}, r.rec.Notices())

		transitions[0].Path = "changed"
		require.Equal(t, "/recorded", r.rec.Transitions()[0].Path, "what the recorder gives away is a copy")
	})
}

func TestRecorderKeepsWhatItHasWhenItIsClosed(t *testing.T) {
	eachServer(t, func(t *testing.T, at *servers) {
		s := newStage(t, at.Connect())
		r := s.spawn(t, "/closed-recorder")
		await(t, r.rec, messages.StateHeld)
		r.rec.Close()
		r.send(&messages.Release{})
		require.IsType(t, &messages.Held{}, r.finish(t)[0])
		require.NoError(t, actorstest.Match(r.rec.States(), append(straight(messages.StateHeld), actorstest.Whatever())...))
	})
}
