package zkconn

import (
	"errors"
	"fmt"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

func TestCommittedRefusal(t *testing.T) {
	c := &Conn{gate: newGate()}
	for err, want := range map[error]bool{
		zk.ErrNoNode:                       true,
		zk.ErrNodeExists:                   true,
		zk.ErrNotEmpty:                     true,
		zk.ErrNoAuth:                       true,
		zk.ErrBadVersion:                   true,
		zk.ErrNoChildrenForEphemerals:      true,
		zk.ErrSessionMoved:                 false,
		zk.ErrAuthFailed:                   false,
		zk.ErrInvalidACL:                   false,
		zk.ErrNoServer:                     false,
		zk.ErrConnectionClosed:             false,
		errors.New("unknown error: -119"):  false, // not read-only
		errors.New("unknown error: -125"):  false, // quota exceeded
		errors.New("unknown error: -127"):  false, // throttled
		errors.New("something was broken"): false,
	} {
		failure := c.failure("heartbeat", "/a", err)
		require.Equal(t, want, CommittedRefusal(failure), "%v", failure)
		require.Equal(t, want, CommittedRefusal(fmt.Errorf("wrapped: %w", failure)), "%v", failure)
	}
	require.False(t, CommittedRefusal(nil))
	require.False(t, CommittedRefusal(errors.Join(ErrNoNode, ErrUnknownOutcome)), "a part of it may have been done")
}

// TestCatchUp trusts no refusal that a server gives without asking the leader: it has not been committed, so it does not
// prove that the server shows what was there before.
func TestCatchUp(t *testing.T) {
	for name, c := range map[string]struct {
		code int32
		err  error // nil: it is caught up
	}{
		"no node":       {-101, nil},
		"no auth":       {-102, nil},
		"session moved": {-118, ErrSessionMoved},
		"throttled":     {-127, ErrThrottled},
		"not read-only": {-119, ErrReadOnly},
	} {
		t.Run(name, func(t *testing.T) {
			conn, _ := connected(t, func(fakeRequest) fakeReply { return fakeReply{code: c.code} }, grants(2000))
			err := conn.CatchUp("/p")
			if c.err == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, c.err)
		})
	}
}
