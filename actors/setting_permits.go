package actors

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// setPermitsTask sets the number of permits of a semaphore.
type setPermitsTask struct{ messages.SetPermits }

func (t setPermitsTask) check() error {
	if err := zkconn.CheckPath(t.Path); err != nil {
		return err
	}
	if t.Permits < 1 || t.Permits > MaxPermits {
		return fmt.Errorf("%w: permits %d: a semaphore has at least one, and at most %d", ErrBadAcquire, t.Permits, MaxPermits)
	}
	return nil
}

func (t setPermitsTask) refuse(why messages.Refusal) any {
	return &messages.PermitsSet{Refusal: why, Path: t.Path, Permits: t.Permits}
}

// answer overwrites nothing but a number of permits: other data are somebody else's.
func (t setPermitsTask) answer(conn *zkconn.Conn) (any, error) {
	for {
		data, stat, err := conn.Get(t.Path)
		if errors.Is(err, zkconn.ErrNoNode) {
			if err = conn.EnsureParents(t.Path); err == nil {
				continue
			}
		}
		if err != nil {
			return nil, err
		}
		if len(data) > 0 {
			if _, err := parsePermits(data); err != nil {
				return t.refuse(messages.Refusal{Reason: messages.ReasonPermits, Detail: err.Error()}), nil
			}
		}
		err = conn.SetDataAt(t.Path, []byte(strconv.Itoa(t.Permits)), stat.Version)
		switch {
		case err == nil:
			return &messages.PermitsSet{Path: t.Path, Permits: t.Permits}, nil
		case !errors.Is(err, zkconn.ErrBadVersion) && !errors.Is(err, zkconn.ErrNoNode):
			return nil, err
		}
	}
}
