package zkconn

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// sensitive is an oath whose exchanges want to know of refusals.
type sensitive struct {
	oath
	refusals atomic.Int32
}

func (s *sensitive) Start(ctx context.Context, server SASLServer) (SASLExchange, error) {
	exchange, err := s.oath.Start(ctx, server)
	return &sensitiveExchange{exchange, s}, err
}

type sensitiveExchange struct {
	SASLExchange
	of *sensitive
}

func (e *sensitiveExchange) Refused() { e.of.refusals.Add(1) }

// An exchange hears of the server's error, and of nothing else that ends it.
func TestSASLExchangeIsToldOfARefusal(t *testing.T) {
	server := newFakeServer(t)
	// Cut off, and refused at the second request of the next exchange.
	cut := func(fakeRequest) fakeReply { return fakeReply{silent: true, cut: true} }
	server.handle = times(1, opSASL, cut, times(2, opSASL, swears("another", codeAuthFailed, nil), swears("open", 0, nil)))
	m := &sensitive{oath: oath{password: "open"}}
	_, events := dialFake(t, server, "zk1", WithSASL(m))
	expect(t, events, Connected)
	require.EqualValues(t, 1, m.refusals.Load())
}
