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
