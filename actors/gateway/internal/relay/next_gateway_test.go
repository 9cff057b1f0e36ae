package relay_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/gateway/internal/relay"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/asks"
)

// TestEveryFieldGoesOn: a request goes on to the next gateway with every field as it was asked for, but
// for what has been used up where it queued before.
func TestEveryFieldGoesOn(t *testing.T) {
	var want messages.Acquire
	for _, f := range asks.Fields {
		want = f.With(want, f.Good)
	}
	r := relay.NewRequester("r", 2, want)
	require.Equal(t, want, wantOf(t, r.Begin(0)), "at the first gateway")
	watching := &messages.Transition{From: messages.StateCreating, To: messages.StateWatching}
	r.Reply(relay.Instant(time.Second), relay.Reply{ID: r.ID(), Gateway: 1, Number: 1, Every: time.Second, First: 1,
		Events: []relay.Event{{Notice: watching}}})
	require.Equal(t, messages.StateWatching, r.State())
	r.Wake(relay.Instant(3 * time.Second))
	out := r.Reply(relay.Instant(4*time.Second), relay.Reply{ID: r.ID(), Gateway: 1, Number: 2, Acceptance: relay.Closing})
	require.Equal(t, 1, r.Gateway())
	next := wantOf(t, out)
	for _, f := range asks.Fields {
		same := f.Of(&want).Interface() == f.Of(&next).Interface()
		require.Equal(t, f.UsedUp, !same, f.Name)
	}
	require.Equal(t, want.Timeout-4*time.Second, next.Timeout, "the rest of it")
}

// wantOf gives what the last sending with a request asks for.
func wantOf(t *testing.T, out []relay.Output) (want messages.Acquire) {
	t.Helper()
	found := false
	for _, o := range out {
		if s, is := o.(relay.Send); is && s.Request.Want != nil {
			want, found = *s.Request.Want, true
		}
	}
	require.True(t, found, "nothing is asked for: %v", out)
	return want
}

// TestAfterwards: a gateway that knows a request which is over is told so, and no other.
func TestAfterwards(t *testing.T) {
	over := relay.Request{ID: "r/0", Gateway: 7, Number: 3, Wish: relay.Cancel, Over: true}
	require.Equal(t, []relay.Output{relay.Dismiss{Request: over}}, relay.Afterwards(relay.Reply{ID: "r/0", Gateway: 7, Number: 2}))
	require.Empty(t, relay.Afterwards(relay.Reply{ID: "r/0", Gateway: 7, Number: 2, Acceptance: relay.Unknown}))
}

// TestOldSendingsAreForgotten: a reply to a sending of which nothing is known any more promises nothing.
func TestOldSendingsAreForgotten(t *testing.T) {
	r := relay.NewRequester("r", 1, messages.Acquire{Path: "/lock"})
	r.Begin(0)
	now := relay.Instant(0)
	for range 99 {
		now += relay.Instant(time.Second)
		r.Wake(now)
	}
	granted := relay.Reply{ID: r.ID(), Gateway: 1, Number: 1, Lasts: time.Hour, First: 1, Events: []relay.Event{{Notice: &messages.Held{}}}}
	r.Reply(now, granted)
	require.False(t, r.Holding())
	granted.Number = 100
	r.Reply(now, granted)
	require.True(t, r.Holding())
}
