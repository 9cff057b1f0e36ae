package actors

import (
	"errors"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// asker is an actor that hears answers.
func (a *aloneSession) asker() (*actor.PID, <-chan any) {
	heard := make(chan any, 16)
	return a.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if _, own := ctx.Message().(actor.SystemMessage); !own {
			heard <- ctx.Message()
		}
	})), heard
}

func (a *aloneSession) onlyInquiry(t *testing.T) *inquiry {
	t.Helper()
	require.Len(t, a.inquiries, 1)
	for q := range a.inquiries {
		return q
	}
	return nil
}

// TestQuestionWaitsForTheConnection, is carried out once, anew when its outcome is unknown, and anew in the next epoch.
func TestQuestionWaitsForTheConnection(t *testing.T) {
	a := newAlone(t, 1)
	asker, heard := a.asker()
	a.connected = false
	a.inquire(asker, messages.ReadQueue{Path: "/p"})
	a.attend()
	require.Zero(t, a.asked)
	a.connected = true
	a.attend()
	a.attend()
	require.Equal(t, 1, a.asked)

	q := a.onlyInquiry(t)
	a.inquired(q, nil, zkconn.ErrUnknownOutcome)
	a.stopTimers() // as when an epoch ends
	a.attend()
	require.Equal(t, 1, a.asked, "not at once")
	a.setLease(&lease{epoch: 2, session: 2, timeout: time.Hour, clock: zkconn.NewLeaseClock(nil)})
	a.attend()
	require.Equal(t, 2, a.asked, "the pause ends with the epoch, whose timers do")
	a.setLease(&lease{epoch: 3, session: 3, timeout: time.Hour, clock: zkconn.NewLeaseClock(nil)})
	a.attend()
	require.Equal(t, 3, a.asked, "what ran in an epoch that is over is never answered")

	a.inquired(q, &messages.Queue{Path: "/p"}, nil)
	require.Equal(t, &messages.Queue{Path: "/p"}, <-heard)
	require.Empty(t, a.inquiries)
	a.inquired(q, &messages.Queue{Path: "/p"}, nil) // a late one
	a.inquire(asker, &messages.ReadQueue{Path: "bad"})
	require.Equal(t, messages.ReasonBadInput, (<-heard).(*messages.Queue).Reason, "nothing came twice")
}

// TestQuestionIsRefusedForGood: what cannot be answered better the next time is not asked again.
func TestQuestionIsRefusedForGood(t *testing.T) {
	for want, err := range map[messages.Reason]error{
		messages.ReasonNoAuth: zkconn.ErrNoAuth, messages.ReasonBadInput: zkconn.ErrBadPath,
		messages.ReasonGone: errGone, messages.ReasonRefused: zkconn.ErrRefused,
	} {
		a := newAlone(t, 1)
		asker, heard := a.asker()
		a.inquire(asker, &messages.AskBack{Path: "/p"})
		a.attend()
		a.inquired(a.onlyInquiry(t), nil, err)
		require.Equal(t, want, (<-heard).(*messages.AskedBack).Reason)
		require.Empty(t, a.inquiries)
	}
	require.True(t, again(errors.New("who knows")))
}

// TestQuestionIsForgotten: with the one that asked, and nobody else's.
func TestQuestionIsForgotten(t *testing.T) {
	a := newAlone(t, 1)
	one, _ := a.asker()
	two, heard := a.asker()
	a.inquire(nil, &messages.AskBack{Path: "/nobody/hears"})
	a.inquire(one, &messages.ReadQueue{Path: "/one"})
	a.inquire(two, &messages.ReadQueue{Path: "/two"})
	a.attend()
	require.Len(t, a.inquiries, 3)
	a.inquire(nil, &forget{})
	a.inquire(one, &forget{})
	require.Len(t, a.inquiries, 2)
	a.ending = true
	a.attend()
	require.Empty(t, a.inquiries)
	require.Equal(t, &messages.Queue{Path: "/two", Refusal: messages.Refusal{Reason: messages.ReasonSessionClosed}}, <-heard)
}
