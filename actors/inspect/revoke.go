package inspect

import (
	"errors"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Revoke asks everybody who holds a lock to give it back, and tells who was asked. It writes a
// revoke request to the holders' nodes: Curator's word where the node is Curator's, and the word of
// ZooKeeper's recipe otherwise. Holders decide by themselves whether they listen: go-zookeeper's
// Lock and kazoo's do not. A holder whose node may not be written is not among the Asked, and shows
// in the answer's Reason.
func Revoke(conn *zkconn.Conn, lockPath string) (*messages.AskedBack, error) {
	contenders, err := Queue(conn, lockPath)
	if err != nil {
		return nil, err
	}
	answer := &messages.AskedBack{Path: lockPath}
	for _, c := range contenders {
		if !c.Holds {
			continue // a write to a holder's node makes no node and wakes no waiter
		}
		word := queue.RevokeRequest
		if c.Library == messages.LibraryCurator {
			word = queue.CuratorRevokeRequest
		}
		err := conn.SetData(c.At(), []byte(word))
		switch {
		case err == nil:
			answer.Asked = append(answer.Asked, c)
		case errors.Is(err, zkconn.ErrNoNode): // it has given back already
		case retriable(err):
			return nil, err
		default:
			answer.Refusal = refusal(err)
		}
	}
	return answer, nil
}

type revoke struct{ path string }

func (q revoke) check() error { return zkconn.CheckPath(q.path) }

func (q revoke) refuse(why messages.Refusal) any {
	return &messages.AskedBack{Refusal: why, Path: q.path}
}

func (q revoke) run(conn *zkconn.Conn) (any, error) { return Revoke(conn, q.path) }
