package actors

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/turnstile-locks/turnstile/zkconn"
)

// The number of a semaphore's permits is kept in the data of its lock path, as a decimal number, which is
// where kazoo's Semaphore keeps it too. Whoever comes first writes it; who asks for another number is refused.

// MaxPermits bounds the number of permits: far above any queue, far below an overflow of sums.
const MaxPermits = 1 << 30

// ErrNoPermits: the data of a lock path are not a number of permits.
var ErrNoPermits = errors.New("turnstile: not a semaphore's number of permits")

// parsePermits reads the number of permits from a lock path's data.
func parsePermits(data []byte) (int, error) {
	n, err := strconv.Atoi(string(data))
	if err != nil || n < 1 || n > MaxPermits {
		return 0, fmt.Errorf("%w: %.40q", ErrNoPermits, data)
	}
	return n, nil
}

// readPermits reads the number of permits. Nothing is recorded where the lock path was made anew a moment ago, by
// somebody who is about to record it: then we do.
func readPermits(conn *zkconn.Conn, path string, permits int) (int, error) {
	data, _, err := conn.Get(path)
	if err == nil && len(data) == 0 {
		if err = recordPermits(conn, path, permits); err == nil {
			data, _, err = conn.Get(path)
		}
	}
	if err != nil {
		return 0, err
	}
	return parsePermits(data)
}

// recordPermits writes the number of permits where nothing is recorded yet. What others have written stands:
// the listing that follows compares it.
func recordPermits(conn *zkconn.Conn, path string, permits int) error {
	data, stat, err := conn.Get(path)
	if err != nil || len(data) > 0 {
		return err
	}
	err = conn.SetDataAt(path, []byte(strconv.Itoa(permits)), stat.Version)
	if errors.Is(err, zkconn.ErrBadVersion) {
		return nil // somebody else was first
	}
	return err
}
