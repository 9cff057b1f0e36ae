package inspect

import (
	"errors"
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Revoke asks everybody who holds a lock to give it back, and tells who was asked. It writes a
// revoke request to the holders' nodes: beside what Turnstile's nodes say, and in the place of what
// others say, Curator's word where the node is Curator's, and the word of ZooKeeper's recipe
// otherwise. Holders decide by themselves whether they listen: go-zookeeper's Lock and kazoo's do
// not. A holder whose node may not be written is not among the Asked, and shows in the answer's
// Reason.
func Revoke(conn *zkconn.Conn, lockPath string) (*messages.RevokeRequestSent, error) {
	contenders, err := Queue(conn, lockPath)
	if err != nil {
		return nil, err
	}
	answer := &messages.RevokeRequestSent{Path: lockPath}
	for _, c := range contenders {
		if !c.Holds {
			continue // a write to a holder's node makes no node and wakes no waiter
		}
		if err := answerFor(conn, c, answer, anybody); err != nil {
			return nil, err
		}
	}
	return answer, nil
}

// RevokeOne asks one contender, that Queue has given as a holder, and nobody else: not whoever has come to
// its path since, as in contests, and not another request to which its node was passed on, as far as
// the node says. Nobody is Asked then. It fails as Revoke does; ErrBadQuery where the contender has no token
// to know its node by.
func RevokeOne(conn *zkconn.Conn, contender messages.Contender) (*messages.RevokeRequestSent, error) {
	q := revoke{messages.SendRevokeRequest{Path: contender.Path, Of: contender}}
	if err := q.check(); err != nil {
		return nil, err
	}
	answer, err := q.run(conn)
	asked, _ := answer.(*messages.RevokeRequestSent)
	return asked, err
}

// answerFor asks a holder, and notes the outcome, except for an error after which all may be tried again.
func answerFor(conn *zkconn.Conn, c messages.Contender, answer *messages.RevokeRequestSent, only whose) error {
	err := ask(conn, c, only)
	switch {
	case err == nil:
		answer.Asked = append(answer.Asked, c)
	case errors.Is(err, zkconn.ErrNoNode), errors.Is(err, ErrGone): // it has given back already
	case retriable(err):
		return err
	default:
		answer.Refusal = refusal(err)
	}
	return nil
}

// anyVersion is the version of a write that does not care.
const anyVersion = -1

// whose tells whether a node of Turnstile's is still of the contender that was seen with it; now is what the node says
// now.
type whose func(seen, now messages.Contender) bool

func anybody(_, _ messages.Contender) bool { return true }

func theSame(seen, now messages.Contender) bool {
	return seen.Who == now.Who && seen.Priority == now.Priority && seen.Since.Equal(now.Since)
}

// ask writes a revoke request to the node of a contender, in the version in which it was seen to be the
// contender's. ErrGone where it is another's by now.
func ask(conn *zkconn.Conn, c messages.Contender, only whose) error {
	for {
		data, stat, err := conn.Get(c.At())
		switch {
		case errors.Is(err, zkconn.ErrNoAuth): // what may not be read may be written all the same
			data, stat.Version = nil, anyVersion
		case err != nil:
			return err
		case c.Token != 0 && stat.Czxid != c.Token.Zxid():
			return ErrGone
		}
		if o, ours := queue.ParseOwner(data); ours {
			now := messages.Contender{Since: stat.Ctime}
			if o.Describe(&now); !only(c, now) {
				return ErrGone
			}
		}
		err = conn.SetDataAt(c.At(), requestTo(c, data), stat.Version)
		if !errors.Is(err, zkconn.ErrBadVersion) { // otherwise somebody has written to it: look again
			return err
		}
	}
}

// requestTo is the revoke request that a contender understands.
func requestTo(c messages.Contender, data []byte) []byte {
	if c.Library == messages.LibraryCurator {
		return []byte(queue.CuratorRevokeRequest)
	}
	return queue.Asked(data)
}

type revoke struct{ messages.SendRevokeRequest }

func (q revoke) check() error {
	if err := zkconn.CheckPath(q.Path); err != nil || !q.Of.HasNode() {
		return err
	}
	if q.Of.Path != q.Path {
		return fmt.Errorf("%w: contender %s is not at %s", ErrBadQuery, q.Of.At(), q.Path)
	}
	return newBreaking(q.Of).check() // what can be broken can be asked
}

func (q revoke) refuse(why messages.Refusal) any {
	return &messages.RevokeRequestSent{Refusal: why, Path: q.Path}
}

func (q revoke) run(conn *zkconn.Conn) (any, error) {
	if !q.Of.HasNode() {
		return Revoke(conn, q.Path)
	}
	if err := conn.CatchUp(q.Of.At()); err != nil {
		return nil, err
	}
	answer := &messages.RevokeRequestSent{Path: q.Path}
	if err := answerFor(conn, q.Of, answer, theSame); err != nil {
		return nil, err
	}
	return answer, nil
}
