package rig

import (
	"context"
	"errors"
	"testing"
)

// launch prepares servers and starts them, anew where somebody else has taken a port meanwhile. The
// servers that prepare returns are stopped when it, or the start, fails.
func launch[S interface{ Stop() error }](prepare func() (S, error), start func(S, context.Context) error) (S, error) {
	var none S
	if err := Available(); err != nil {
		return none, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for attempt := 1; ; attempt++ {
		servers, err := prepare()
		if err == nil {
			err = start(servers, ctx)
		}
		if err == nil {
			return servers, nil
		}
		err = errors.Join(err, servers.Stop())
		if !errors.Is(err, errPortTaken) || attempt == startAttempts {
			return none, err
		}
	}
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
