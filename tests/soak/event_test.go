package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// One is overtaken by a request that came later, has waited, and has waited for nobody else.
func TestOvertaken(t *testing.T) {
	const second = int64(time.Second)
	happened := func(e *event) bool {
		select {
		case <-e.happened:
			return true
		default:
			return false
		}
	}
	for name, c := range map[string]struct {
		call, at, heldUntil int64
		overtaken           bool
	}{
		"asked later and waited":     {11 * second, 14 * second, 9 * second, true},
		"asked earlier":              {9 * second, 14 * second, 9 * second, false},
		"did not wait":               {13 * second, 13*second + 1, 9 * second, false},
		"waited for somebody else's": {11 * second, 14 * second, 13 * second, false},
	} {
		t.Run(name, func(t *testing.T) {
			j := newCourtroom(t)
			e := j.overtaken(anna.Client)
			defer e.forget()
			j.grant(carl, 1, 0, 1, 2)
			j.hear(report{Kind: kindEnd, From: carl, Token: 1, Confirmed: c.heldUntil, At: c.heldUntil})
			j.hear(report{Kind: kindAsk, From: anna, Call: 10 * second})
			j.grant(bert, 6, c.call, c.at, c.at)
			require.Equal(t, c.overtaken, happened(e))
		})
	}
}

func TestGrantedTo(t *testing.T) {
	j := newCourtroom(t)
	e, other := j.grantedTo(bert.Client), j.grantedTo(bert.Client)
	other.forget()
	j.grant(anna, 5, 100, 200, 201)
	require.Len(t, j.events, 1)
	j.grant(bert, 6, 100, 300, 301)
	<-e.happened
	require.Empty(t, j.events)
}

// ring ends the pauses that have begun; end those to come, too.
func TestAlarm(t *testing.T) {
	a := newAlarm()
	ended := make(chan struct{})
	go func() {
		a.pause(time.Hour)
		close(ended)
	}()
	for over := false; !over; {
		a.ring() // again, for it may have come before the pause
		select {
		case <-ended:
			over = true
		case <-time.After(time.Millisecond):
		}
	}
	a.end()
	a.end()
	a.ring()
	a.pause(time.Hour)
}
