package inspect

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"sync/atomic"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// Revoke asks everybody who holds a lock to give it back: see locks.Client.Revoke and
// messages.RevokeRequestSent.
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

// RevokeOne asks one holder that Queue has given, and, as far as the node tells, nobody who has its
// path or node since: nobody is Asked then. It fails as Revoke does, and with ErrBadQuery where the
// contender has no token.
func RevokeOne(conn *zkconn.Conn, contender messages.Contender) (*messages.RevokeRequestSent, error) {
	answer, err := act(conn, messages.SendRevokeRequest{Path: contender.Path, Of: contender})
	asked, _ := answer.(*messages.RevokeRequestSent)
	return asked, err
}

// answerFor asks a holder, and notes the outcome. After an error all may be tried again.
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

const anyVersion = -1

// whose reports whether a node, read now, is still that of the contender that was seen with it.
type whose func(seen, now messages.Contender) bool

func anybody(_, _ messages.Contender) bool { return true }

func theSame(seen, now messages.Contender) bool {
	return seen.Who == now.Who && seen.Priority == now.Priority && seen.Since.Equal(now.Since)
}

// ask writes a revoke request to the node of a contender, unless the node has become another's:
// ErrGone.
func ask(conn *zkconn.Conn, c messages.Contender, only whose) error {
	for {
		data, stat, err := conn.Get(c.At())
		switch {
		case errors.Is(err, zkconn.ErrNoAuth): // a node that may not be read may be written all the same
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
		if !errors.Is(err, zkconn.ErrBadVersion) { // otherwise look again
			return err
		}
	}
}

func requestTo(c messages.Contender, data []byte) []byte {
	if c.Library == messages.LibraryCurator {
		return []byte(queue.CuratorRevokeRequest)
	}
	return queue.Asked(data)
}

func checkRevoke(q messages.SendRevokeRequest) error {
	if err := zkconn.CheckPath(q.Path); err != nil || !q.Of.HasNode() {
		return err
	}
	if q.Of.Path != q.Path {
		return fmt.Errorf("%w: contender %s is not at %s", ErrBadQuery, zkconn.Shown(q.Of.At()), zkconn.Shown(q.Path))
	}
	return breaking{Contender: q.Of}.check() // every contender that can be broken can be asked
}

func revoke(conn *zkconn.Conn, q messages.SendRevokeRequest) (*messages.RevokeRequestSent, error) {
	if !q.Of.HasNode() {
		return Revoke(conn, q.Path)
	}
	if err := conn.CatchUp(q.Of.At()); err != nil {
		return nil, err
	}
	answer := &messages.RevokeRequestSent{Path: q.Path}
	return answer, answerFor(conn, q.Of, answer, theSame)
}

// Break deletes a contender's node by force, and nobody else's: see messages.Break. The error wraps
// ErrGone where the node is gone, and ErrBadQuery or zkconn.ErrBadPath where the contender is not
// well formed.
func Break(conn *zkconn.Conn, contender messages.Contender) error {
	_, err := act(conn, messages.Break{Contender: contender})
	return err
}

type breaking struct {
	messages.Contender
	doubt *atomic.Bool // a delete was sent whose outcome is unknown
}

func (q breaking) check() error {
	for _, path := range []string{q.Path, q.At()} {
		if err := zkconn.CheckPath(path); err != nil {
			return err
		}
	}
	if !q.HasNode() { // a call that waits inside its client
		return fmt.Errorf("%w %q: the contender has no node", zkconn.ErrBadPath, q.Path)
	}
	if _, ok := queue.Parse(q.Node); !ok && q.Mode != messages.Contest {
		return fmt.Errorf("%w: %q is not the name of a contender's node", ErrBadQuery, q.Node)
	}
	if q.Token == 0 {
		return fmt.Errorf("%w: contender %s has no token to know its node by", ErrBadQuery, zkconn.Shown(q.At()))
	}
	return nil
}

// run deletes the node in the version last seen to be the right one, or with its guard.
func (q breaking) run(conn *zkconn.Conn) error {
	if err := conn.CatchUp(q.At()); err != nil {
		return err
	}
	guard, err := q.guard(conn)
	if err != nil {
		return err
	}
	for {
		version, err := q.find(conn)
		if err == nil && q.Mode == messages.Contest && guard == "" && version == 0 {
			version, err = q.mark(conn)
		}
		if err == nil {
			if err = q.delete(conn, guard, version); zkconn.OutcomeOf(err) == zkconn.Unknown {
				q.doubt.Store(true)
			}
		}
		var refused *zkconn.Error
		if guard != "" && errors.Is(err, zkconn.ErrNoNode) && errors.As(err, &refused) && refused.Path == guard {
			guard = "" // deleted with its node, which the next look shows, or by itself
			continue
		}
		switch {
		case errors.Is(err, zkconn.ErrNoNode), errors.Is(err, ErrGone):
			if !q.doubt.Load() { // otherwise the delete was most likely ours
				return fmt.Errorf("%s: %w", zkconn.Shown(q.At()), ErrGone)
			}
		case errors.Is(err, zkconn.ErrBadVersion): // written to: look again
			continue
		case err != nil:
			return err
		}
		return nil
	}
}

// guard gives the path of the guard of a contest's node; "" where that is unknown. A transaction
// that deletes both hits no other node, without a mark.
func (q breaking) guard(conn *zkconn.Conn) (string, error) {
	if q.Mode != messages.Contest {
		return "", nil
	}
	data, _, err := conn.Get(q.At())
	if err != nil && !errors.Is(err, zkconn.ErrNoNode) && !errors.Is(err, zkconn.ErrNoAuth) {
		return "", err
	}
	o, _ := queue.ParseOwner(data)
	if !queue.IsGuard(o.Guard) {
		return "", nil
	}
	return path.Join(path.Dir(q.At()), o.Guard), nil
}

func (q breaking) delete(conn *zkconn.Conn, guard string, version int32) error {
	if guard == "" {
		return conn.DeleteAt(q.At(), version)
	}
	_, err := conn.Commit(nil, []string{guard, q.At()}, nil, nil)
	return err
}

// find gives the version of the node, while it is the contender's.
func (q breaking) find(conn *zkconn.Conn) (version int32, err error) {
	stat, exists, err := conn.Exists(q.At())
	if err != nil {
		return 0, err
	}
	if !exists || stat.Czxid != q.Token.Zxid() {
		return 0, ErrGone
	}
	return stat.Version, nil
}

// mark asks the holder of a contest for the lock: its node gets a version that no new node has, so
// the delete cannot hit another's.
func (q breaking) mark(conn *zkconn.Conn) (version int32, err error) {
	err = conn.SetDataAt(q.At(), []byte(queue.RevokeRequest), 0)
	if err != nil && !errors.Is(err, zkconn.ErrNoAuth) { // a node that may not be written may still be deleted
		return 0, err
	}
	return q.find(conn)
}

// SetPermits sets the number of permits of a semaphore, and makes a missing lock path. The error
// wraps queue.ErrNoPermits where the lock path has other data, and ErrBadQuery where the number is
// out of range.
func SetPermits(conn *zkconn.Conn, lockPath string, permits int) error {
	_, err := act(conn, messages.SetPermits{Path: lockPath, Permits: permits})
	return err
}

func checkSetPermits(q messages.SetPermits) error {
	if err := zkconn.CheckPath(q.Path); err != nil {
		return err
	}
	if wrong := queue.CheckPermits(q.Permits); wrong != "" {
		return fmt.Errorf("%w: %s", ErrBadQuery, wrong)
	}
	return nil
}

func setPermits(conn *zkconn.Conn, q messages.SetPermits) (err error) {
	var made zkconn.Parents
	defer func() {
		if err != nil && zkconn.OutcomeOf(err) == zkconn.Refused {
			made.Remove(nil)
		}
	}()
	for {
		data, stat, err := conn.Get(q.Path)
		if errors.Is(err, zkconn.ErrNoNode) {
			more, failed := conn.MakeParents(q.Path, nil)
			if err = failed; err == nil {
				made = made.And(more)
				continue
			}
		}
		if err == nil && len(data) > 0 {
			_, err = queue.ParsePermits(data)
		}
		if err != nil {
			return err
		}
		err = conn.SetDataAt(q.Path, []byte(strconv.Itoa(q.Permits)), stat.Version)
		if !errors.Is(err, zkconn.ErrBadVersion) && !errors.Is(err, zkconn.ErrNoNode) {
			return err
		}
	}
}
