package zkconn

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"sync/atomic"
)

// oath is a mechanism for tests: the client says "hello", the server answers "who", the client says its password,
// and the server answers with nothing.
type oath struct {
	password string
	start    func(ctx context.Context, server SASLServer) error
	first    func() error
}

func (o *oath) Name() string      { return "OATH" }
func (o *oath) Principal() string { return "alice" }

func (o *oath) Start(ctx context.Context, server SASLServer) (SASLExchange, error) {
	if o.start != nil {
		if err := o.start(ctx, server); err != nil {
			return nil, err
		}
	}
	return &oathExchange{oath: o}, nil
}

type oathExchange struct {
	oath  *oath
	steps int
	done  bool
}

func (e *oathExchange) Initial() ([]byte, error) {
	if e.oath.first != nil {
		if err := e.oath.first(); err != nil {
			return nil, err
		}
	}
	return []byte("hello"), nil
}

func (e *oathExchange) Step(challenge []byte) ([]byte, error) {
	e.steps++
	switch {
	case e.steps == 1 && bytes.Equal(challenge, []byte("who")):
		return []byte(e.oath.password), nil
	case e.steps == 2 && len(challenge) == 0:
		e.done = true
		return nil, nil
	}
	return nil, errors.New("what a strange thing to say")
}

func (e *oathExchange) Done() bool { return e.done }

// saslToken is the body of a reply; nil stands for null.
func saslToken(token []byte) []byte {
	if token == nil {
		return []byte{0xff, 0xff, 0xff, 0xff}
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(token))), token...)
}

// swears lets a client in that knows the password; others get refusal, and the connection is
// closed. Requests other than SASL's go to next.
func swears(password string, refusal int32, next func(fakeRequest) fakeReply) func(fakeRequest) fakeReply {
	return func(r fakeRequest) fakeReply {
		switch {
		case r.op != opSASL && next != nil:
			return next(r)
		case r.op != opSASL:
			return fakeReply{}
		case string(r.body[4:]) == "hello":
			return fakeReply{body: saslToken([]byte("who"))}
		case string(r.body[4:]) == password:
			return fakeReply{body: saslToken(nil)}
		}
		return fakeReply{code: refusal, body: saslToken(nil), cut: true}
	}
}

// times does something else for the first n requests of a kind that pass on.
func times(n int32, op int32, other, handle func(fakeRequest) fakeReply) func(fakeRequest) fakeReply {
	var seen atomic.Int32
	return func(r fakeRequest) fakeReply {
		if r.op == op && seen.Add(1) <= n {
			return other(r)
		}
		return handle(r)
	}
}
