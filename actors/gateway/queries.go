package gateway

import (
	"context"
	"fmt"

	"github.com/asynkron/protoactor-go/actor"
	"google.golang.org/protobuf/proto"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/actors/gateway/wire"
	"github.com/turnstile-locks/turnstile/actors/inspect"
	"github.com/turnstile-locks/turnstile/messages"
)

// maxQueries bounds the queries that a gateway carries out at a time. More are not answered, and
// will be sent again.
const maxQueries = 64

// queries answers the queries of other nodes by a gateway's session.
type queries struct {
	session *actors.Session
	running int
}

// queryDone tells the gateway that a query was carried out.
type queryDone struct{}

func (q *queries) done() { q.running-- }

// answer answers a query: on a goroutine, because the session may be out of reach.
func (q *queries) answer(ctx actor.Context, x *wire.Query) {
	asker, root, self := ctx.Sender(), ctx.ActorSystem().Root, ctx.Self()
	if asker == nil || len(x.GetId()) > maxID {
		return
	}
	refuse := func(why string) { ctx.Send(asker, wire.Refuse(x.GetId(), messages.ReasonBadInput, clip(why))) }
	if wrong := readVersion(x.GetVersion()); wrong != "" {
		refuse(wrong)
		return
	}
	if unknown := wire.Unknown(x); unknown != "" {
		refuse(unknown)
		return
	}
	if _, hello := x.GetWhat().(*wire.Query_Hello); hello {
		ctx.Send(asker, &wire.Answer{Version: wire.Version, Id: x.GetId(), What: &wire.Answer_Welcome{
			Welcome: &wire.Welcome{Servers: q.session.Servers(), Chroot: q.session.Absolute("")}}})
		return
	}
	query := x.Messages()
	if query == nil {
		refuse("a query without a question")
		return
	}
	if err := inspect.Check(query); err != nil {
		refuse(err.Error())
		return
	}
	if q.running >= maxQueries {
		return
	}
	q.running++
	bound := q.session.Timeout()
	go func() {
		defer root.Send(self, &queryDone{})
		wait, stop := context.WithTimeout(context.Background(), bound)
		defer stop()
		answer, err := q.session.Ask(wait, query)
		switch {
		case wait.Err() != nil && err != nil: // it will be asked again
		case err != nil:
			root.Send(asker, wire.Refuse(x.GetId(), messages.ReasonSessionClosed, clip(err.Error())))
		default:
			root.Send(asker, bounded(wire.FromAnswer(x.GetId(), answer)))
		}
	}()
}

// maxAnswer bounds an answer, in bytes. gRPC refuses messages above 4 MiB, and ends the stream that
// brought one, with all that is behind it.
const maxAnswer = 1 << 20

// bounded gives an answer, or a refusal for one that is too long to be sent.
func bounded(a *wire.Answer) *wire.Answer {
	size := proto.Size(a)
	if size <= maxAnswer {
		return a
	}
	return wire.Refuse(a.GetId(), messages.ReasonRefused, fmt.Sprintf(
		"the answer has %d bytes, and a gateway sends up to %d: ask over a session", size, maxAnswer))
}
