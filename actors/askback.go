package actors

import (
	"errors"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// askBackTask asks whoever holds a lock to give it back.
type askBackTask struct{ messages.AskBack }

func (t askBackTask) check() error { return zkconn.CheckPath(t.Path) }

func (t askBackTask) refuse(why messages.Refusal) any {
	return &messages.AskedBack{Refusal: why, Path: t.Path}
}

// answer writes to the node of every holder: Curator's word where it is Curator's, and that of ZooKeeper's recipe
// otherwise. Whether the holder listens is its own affair: go-zookeeper's Lock and kazoo's do not. Writing makes
// no node, and one that holds goes on to hold for as long as its node is there, so that no waiter's is written to.
func (t askBackTask) answer(conn *zkconn.Conn) (any, error) {
	q, err := readContenders(conn, t.Path)
	if err != nil {
		return nil, err
	}
	asked := &messages.AskedBack{Path: t.Path}
	for _, c := range q.Contenders {
		if !c.Holds {
			continue
		}
		word := unlockData
		if c.Library == messages.LibraryCurator {
			word = curatorData
		}
		err := conn.SetData(c.At(), []byte(word))
		switch {
		case err == nil:
			asked.Asked = append(asked.Asked, c)
		case errors.Is(err, zkconn.ErrNoNode): // it has given back already
		case again(err):
			return nil, err
		default:
			asked.Refusal = refusal(err)
		}
	}
	return asked, nil
}
