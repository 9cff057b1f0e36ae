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

// TestOutcomes of errors that are no code of a server, or are judged by themselves: TestCodes has the codes.
func TestOutcomes(t *testing.T) {
	for _, test := range []struct {
		err   error
		value error
		want  Outcome
	}{
		{zk.ErrNoAuth, ErrNoAuth, Refused},
		{errors.New("unknown error: -6"), ErrRefused, Refused},
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
	require.False(t, CommittedRefusal(nil))
	require.False(t, CommittedRefusal(errors.Join(ErrNoNode, ErrUnknownOutcome)), "a part of it may have been done")
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
		part, err := transactionResult(test.results, test.err, 2)
		require.ErrorIs(t, err, test.want, name)
		require.Equal(t, test.part, part, name)
	}
	for name, results := range map[string][]zk.MultiResponse{"nothing but -2": {behind, behind}, "too short": {fine}, "empty": nil,
		"too long": {fine, fine, refused}} {
		_, err := transactionResult(results, nil, 2)
		require.Error(t, err, name)
		require.Equal(t, Unknown, OutcomeOf(err), name)
	}
	_, err := transactionResult([]zk.MultiResponse{fine, fine}, nil, 2)
	require.NoError(t, err)
}

// TestCatchUp trusts no refusal that a server gives without asking the leader: it has not been committed, so it does not
// prove that the server shows what was there before. TestCodes has the codes.
func TestCatchUp(t *testing.T) {
	code := int32(codeNoNode)
	c, _ := connected(t, func(fakeRequest) fakeReply { return fakeReply{code: code} })
	require.NoError(t, c.CatchUp("/p"))
	code = codeUnimplemented
	require.ErrorIs(t, c.CatchUp("/p"), ErrRefused)
}

func TestEventKindNames(t *testing.T) {
	for kind := Connected; kind <= NodeChildrenChanged; kind++ {
		require.NotContains(t, kind.String(), "EventKind")
	}
	require.Equal(t, "EventKind(0)", EventKind(0).String())
	require.Equal(t, "EventKind(200)", EventKind(200).String())
}
