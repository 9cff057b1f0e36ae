package gateway

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestTroubleOverGateway: the requester is told on which request the gateway's server hangs up: in
// the error of a Lock that is given up, in the end of a request that has waited for long enough,
// and in the error of an Unlock.
func TestTroubleOverGateway(t *testing.T) {
	t.Parallel()
	const trouble = `^the server hangs up on (create|create counted|delete) /[xy]/_c_\S+, \d+ times$`
	s := newStage(t, patient.Session)
	client := s.outside.client(t, s.pid)
	lease, err := client.Mutex("/y").Lock(patient.Deadline(t))
	require.NoError(t, err)
	var injected []*embedded.Injection
	for _, fault := range []embedded.Fault{{Path: "/x/_c_*"}, {Path: "/y/_c_*", Op: embedded.OpDelete}} {
		fault.Action, fault.Count = embedded.CutBefore, -1
		one, err := s.server.Inject(fault)
		require.NoError(t, err)
		injected = append(injected, one)
	}
	for _, op := range []string{"lock", "unlock"} {
		failed := func(patience time.Duration) error {
			ctx, stop := context.WithTimeout(patient.Deadline(t), patience)
			defer stop()
			if op == "unlock" {
				return lease.Unlock(ctx)
			}
			_, err := client.Mutex("/x").Lock(ctx)
			return err
		}
		for patience := time.Second; ; patience *= 2 {
			err = failed(patience)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			if detail := detailOf(err); detail != "" {
				require.Regexp(t, trouble, detail)
				break
			}
			require.Less(t, patience, patient.Bound, "%s: %v", op, err)
		}
	}
	for patience := time.Second; ; patience *= 2 {
		pid, told := s.outside.listener(t)
		s.outside.system.Root.Spawn(gateway.NewLock(gateway.At(s.pid), messages.Acquire{Path: "/x", Timeout: patience},
			actors.WithObserver(pid)))
		end, _ := notice[*messages.Cancelled](t, told)
		require.Equal(t, messages.ReasonTimeout, end.Reason)
		if end.Detail != "" {
			require.Regexp(t, trouble, end.Detail)
			break
		}
		require.Less(t, patience, patient.Bound)
	}
	for _, one := range injected {
		one.Remove()
	}
	patient.GiveBack(t, lease)
	next := patient.Locked(t, client.Mutex("/x").Lock)
	patient.GiveBack(t, next)
}

// detailOf gives the detail that an error has of the servers.
func detailOf(err error) string {
	var e *locks.Error
	if errors.As(err, &e) {
		return e.Detail
	}
	return ""
}
