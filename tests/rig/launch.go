package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
)

// launch prepares servers and starts them, anew where somebody else has taken a port meanwhile, and once more where
// they did not come up in time: one server in thousands has bound its port and never accepted, and a whole package of
// tests would fail with it. The threads of such servers are written to standard error. The servers that prepare
// returns are stopped when it, or the start, fails.
func launch[S interface{ Stop() error }](prepare func() (S, error), start func(S, context.Context) error) (S, error) {
	var none S
	if err := Available(); err != nil {
		return none, err
	}
	late := false
	for attempt := 1; ; attempt++ {
		servers, err := prepare()
		if err == nil {
			err = startInTime(servers, start)
		}
		if err == nil {
			return servers, nil
		}
		err = errors.Join(err, servers.Stop())
		switch {
		case errors.Is(err, context.DeadlineExceeded) && !late:
			late = true
			fmt.Fprintln(os.Stderr, "rig: servers did not come up and are started anew:", err)
		case !errors.Is(err, errPortTaken) || attempt == startAttempts:
			return none, err
		}
	}
}

// startInTime starts servers and waits for them, for [startTimeout] at most.
func startInTime[S any](servers S, start func(S, context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	return start(servers, ctx)
}

// stopAtEnd stops servers when the test ends, and shows what they wrote when it has failed.
func stopAtEnd(t testing.TB, stop func() error, servers ...*Server) {
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	showAtEnd(t, servers...)
}

// showAtEnd shows what servers wrote when the test ends and has failed.
func showAtEnd(t testing.TB, servers ...*Server) {
	t.Cleanup(func() {
		if t.Failed() {
			for _, server := range servers {
				t.Logf("output of server %s:\n%s", server.Addr(), server.Log())
			}
		}
	})
}
