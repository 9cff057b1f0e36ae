package carrier

import (
	"errors"
	"strconv"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// readQueue reads the queue, and then the number of permits: whoever holds by them comes in by a
// number that stood there when its node was there already. So all holders together have no more
// permits than the last of them found.
func (k Carrier) readQueue(path string, permits int) *coordinator.View {
	v := &coordinator.View{}
	children, err := k.Conn.Children(path)
	if err == nil && permits > 0 {
		v.Permits, err = k.readPermits(path, permits)
	}
	if errors.Is(err, zkconn.ErrNoNode) { // the lock path is gone, and every node in it
		children, err = nil, nil
	}
	v.Queue, v.Failure = queue.NewListing(children, v.Permits), failureOf(err)
	return v
}

// The number of a semaphore's permits is kept in the data of its lock path, as a decimal number, which is
// where kazoo's Semaphore keeps it too. The first contender writes it, and SetPermits changes it.

// readPermits reads the number of permits. Where nothing is recorded, somebody has made the lock
// path anew a moment ago and is about to record the number: then we record it.
func (k Carrier) readPermits(path string, permits int) (int, error) {
	data, _, err := k.Conn.Get(path)
	if err == nil && len(data) == 0 {
		if err = k.recordPermits(path, permits); err == nil {
			data, _, err = k.Conn.Get(path)
		}
	}
	if err != nil {
		return 0, err
	}
	return queue.ParsePermits(data)
}

// recordPermits writes the number of permits where nothing is recorded yet. A number that others have written stands.
func (k Carrier) recordPermits(path string, permits int) error {
	data, stat, err := k.Conn.Get(path)
	if err != nil || len(data) > 0 {
		return err
	}
	err = k.Conn.SetDataAt(path, permitsData(permits), stat.Version)
	if errors.Is(err, zkconn.ErrBadVersion) {
		return nil // somebody else was first
	}
	return err
}

func permitsData(permits int) []byte { return []byte(strconv.Itoa(permits)) }
