package zkconn

import (
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

func TestOutcomes(t *testing.T) {
	for _, test := range []struct {
		err   error
		value error
		want  Outcome
	}{
		{zk.ErrNoNode, ErrNoNode, Refused},
		{zk.ErrNodeExists, ErrNodeExists, Refused},
		{zk.ErrNotEmpty, ErrNotEmpty, Refused},
		{zk.ErrNoAuth, ErrNoAuth, Refused},
		{zk.ErrAuthFailed, ErrAuthFailed, Refused},
		{zk.ErrBadVersion, ErrBadVersion, Refused},
		{zk.ErrNoChildrenForEphemerals, ErrNoChildrenForEphemerals, Refused},
		{zk.ErrInvalidACL, ErrRefused, Refused},
		{zk.ErrSessionMoved, ErrSessionMoved, Deferred},
		{zk.ErrBadArguments, ErrRefused, Refused},
		{errors.New("unknown error: -6"), ErrRefused, Refused},
		{errors.New("unknown error: -125"), ErrQuota, Refused},
		{zk.ErrNoServer, ErrUnavailable, NotSent},
		{zk.ErrInvalidPath, ErrBadPath, NotSent},
		{zk.ErrConnectionClosed, ErrUnknownOutcome, Unknown},
		{zk.ErrClosing, ErrUnknownOutcome, Unknown},
		{zk.ErrSessionExpired, ErrUnknownOutcome, Unknown},
		{zk.ErrAPIError, ErrUnknownOutcome, Unknown},
		{zk.ErrShortBuffer, ErrUnknownOutcome, Unknown},
		{errors.New("unknown error: -1"), ErrUnknownOutcome, Unknown},
		{errors.New("unknown error: x"), ErrUnknownOutcome, Unknown},
		{&net.OpError{Op: "read", Err: io.EOF}, ErrUnknownOutcome, Unknown},
		{io.ErrUnexpectedEOF, ErrUnknownOutcome, Unknown},
	} {
		require.Equal(t, test.want, OutcomeOf(test.err), "%v by itself", test.err)
		c := &Conn{gate: newGate()}
		err := c.failure("get", "/a", test.err)
		require.Equal(t, test.want, OutcomeOf(err), "%v", err)
		require.ErrorIs(t, err, test.value)
		require.ErrorIs(t, err, test.err, "the library's own stays reachable")
		require.ErrorContains(t, err, "get /a")
		require.Equal(t, test.want, OutcomeOf(fmt.Errorf("wrapped: %w", err)))
	}
	require.Equal(t, Applied, OutcomeOf(nil))
	require.Equal(t, NotSent, OutcomeOf(CheckPath("x")))
	require.Equal(t, NotSent, OutcomeOf(ErrClosed))
	require.Equal(t, "unknown", Unknown.String())
	require.Equal(t, "Outcome(9)", Outcome(9).String())
}

func TestOutcomesOnceClosed(t *testing.T) {
	c := &Conn{gate: newGate()}
	c.gate.close(ErrClosed)
	underWay := c.failure("get", "/a", zk.ErrConnectionClosed)
	require.ErrorIs(t, underWay, ErrClosed)
	require.Equal(t, Unknown, OutcomeOf(underWay))
	queued := c.failure("get", "/a", zk.ErrNoServer)
	require.ErrorIs(t, queued, ErrClosed)
	require.Equal(t, NotSent, OutcomeOf(queued))
}

// In the reply to a failed transaction the parts before the failing one look fine, those behind it carry -2.
func TestFailedTransactions(t *testing.T) {
	fine, behind := zk.MultiResponse{}, zk.MultiResponse{Error: errors.New("unknown error: -2")}
	refused := zk.MultiResponse{Error: zk.ErrNoAuth}
	for name, test := range map[string]struct {
		results []zk.MultiResponse
		err     error
		part    int // -1: not told
		want    error
	}{
		"second part":       {[]zk.MultiResponse{fine, refused}, zk.ErrNoAuth, 1, zk.ErrNoAuth},
		"first part":        {[]zk.MultiResponse{refused, behind}, zk.ErrNoAuth, 0, zk.ErrNoAuth},
		"behind comes too":  {[]zk.MultiResponse{behind, refused}, behind.Error, 1, zk.ErrNoAuth},
		"parts only":        {[]zk.MultiResponse{fine, refused}, nil, 1, zk.ErrNoAuth},
		"header only":       {nil, zk.ErrNoNode, -1, zk.ErrNoNode},
		"header, all fine":  {[]zk.MultiResponse{fine, fine}, zk.ErrSessionMoved, -1, zk.ErrSessionMoved},
		"connection closed": {nil, zk.ErrConnectionClosed, -1, zk.ErrConnectionClosed},
	} {
		_, err := transactionResult(test.results, test.err, 2)
		require.ErrorIs(t, err, test.want, name)
		var part *partError
		require.Equal(t, test.part >= 0, errors.As(err, &part), name)
		if part != nil {
			require.Equal(t, test.part, part.part, name)
		}
	}
	for name, results := range map[string][]zk.MultiResponse{"nothing but -2": {behind, behind}, "too short": {fine}, "empty": nil} {
		_, err := transactionResult(results, nil, 2)
		require.Error(t, err, name)
		require.Equal(t, Unknown, OutcomeOf(err), name)
	}
	results, err := transactionResult([]zk.MultiResponse{fine, fine}, nil, 2)
	require.NoError(t, err)
	require.Len(t, results, 2)
}

func TestEventKindNames(t *testing.T) {
	for kind := Connected; kind <= NodeChildrenChanged; kind++ {
		require.NotContains(t, kind.String(), "EventKind")
	}
	require.Equal(t, "EventKind(0)", EventKind(0).String())
	require.Equal(t, "EventKind(200)", EventKind(200).String())
}
