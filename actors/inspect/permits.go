package inspect

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// SetPermits sets the number of permits of a semaphore, and makes its lock path where it does not
// exist. It overwrites only a number of permits. The error wraps queue.ErrNoPermits where the lock
// path has other data, and ErrBadQuery where the number is out of range.
func SetPermits(conn *zkconn.Conn, lockPath string, permits int) error {
	return act(conn, setPermits{messages.SetPermits{Path: lockPath, Permits: permits}})
}

type setPermits struct{ messages.SetPermits }

func (q setPermits) check() error {
	if err := zkconn.CheckPath(q.Path); err != nil {
		return err
	}
	if wrong := queue.CheckPermits(q.Permits); wrong != "" {
		return fmt.Errorf("%w: %s", ErrBadQuery, wrong)
	}
	return nil
}

func (q setPermits) refuse(why messages.Refusal) any {
	return &messages.PermitsSet{Refusal: why, Path: q.Path, Permits: q.Permits}
}

func (q setPermits) run(conn *zkconn.Conn) (answer any, err error) {
	var made zkconn.Parents
	defer func() {
		if err != nil && zkconn.OutcomeOf(err) == zkconn.Refused {
			made.Remove(nil)
		}
	}()
	for {
		data, stat, err := conn.Get(q.Path)
		if errors.Is(err, zkconn.ErrNoNode) {
			more, failed := conn.MakeParents(q.Path)
			if err = failed; err == nil {
				made = made.And(more)
				continue
			}
		}
		if err == nil && len(data) > 0 {
			_, err = queue.ParsePermits(data)
		}
		if err != nil {
			return nil, err
		}
		err = conn.SetDataAt(q.Path, []byte(strconv.Itoa(q.Permits)), stat.Version)
		switch {
		case err == nil:
			return &messages.PermitsSet{Path: q.Path, Permits: q.Permits}, nil
		case !errors.Is(err, zkconn.ErrBadVersion) && !errors.Is(err, zkconn.ErrNoNode):
			return nil, err
		}
	}
}
