package carrier

import (
	"errors"
	"strconv"

	"github.com/turnstile-locks/turnstile/actors/internal/coordinator"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// readQueue reads the number of permits before the queue: the queue is never older than the number
// by which it is judged.
func (k Carrier) readQueue(path string, permits int) *coordinator.View {
	v := &coordinator.View{}
	if permits > 0 {
		var err error
		if v.Permits, err = k.readPermits(path, permits); err != nil && !errors.Is(err, zkconn.ErrNoNode) {
			v.Failure = failureOf(err)
			return v
		}
	}
	children, err := k.Conn.Children(path)
	if errors.Is(err, zkconn.ErrNoNode) { // the lock path is gone, and every node in it
		err = nil
	}
	v.Queue, v.Failure = queue.NewListing(children, v.Permits), failureOf(err)
	return v
}

// The number of a semaphore's permits is kept in the data of its lock path, as a decimal number, which is
// where kazoo's Semaphore keeps it too. The first contender writes it; one that asks for another number is refused.

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

// recordPermits writes the number of permits where nothing is recorded yet. A number that others have written stands:
// the listing that follows compares it.
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

// permitsData gives the data of a semaphore's lock path: its number of permits.
func permitsData(permits int) []byte { return []byte(strconv.Itoa(permits)) }
