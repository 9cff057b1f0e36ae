package actors

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// ErrBadAcquire: what was asked for is not well formed.
var ErrBadAcquire = errors.New("turnstile: bad request")

// CheckAcquire tells whether a lock can be asked for like that. It returns an error that wraps
// zkconn.ErrBadPath for a bad lock path, or ErrBadAcquire that names the value and the rule.
func CheckAcquire(want messages.Acquire) error {
	if err := zkconn.CheckPath(want.Path); err != nil {
		return err
	}
	switch {
	case want.Mode != messages.Exclusive:
		return fmt.Errorf("%w: mode %d: only exclusive locks exist", ErrBadAcquire, want.Mode)
	case want.Timeout < 0:
		return fmt.Errorf("%w: timeout %v is negative", ErrBadAcquire, want.Timeout)
	case want.Grace < 0:
		return fmt.Errorf("%w: grace %v is negative", ErrBadAcquire, want.Grace)
	case len(want.Label) > maxLabel:
		return fmt.Errorf("%w: a label of %d bytes is longer than %d", ErrBadAcquire, len(want.Label), maxLabel)
	}
	return nil
}

// maxLabel bounds what a label adds to a contender's node, in bytes.
const maxLabel = 1024

// Owner is what a contender's node says of who made it, as JSON.
type Owner struct {
	Host  string    `json:"host"`
	PID   int       `json:"pid"`
	Label string    `json:"label,omitempty"`
	Mode  string    `json:"mode"`
	Since time.Time `json:"since"`
}

func ownerData(want messages.Acquire, now time.Time) []byte {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	data, err := json.Marshal(Owner{Host: host, PID: os.Getpid(), Label: want.Label,
		Mode: want.Mode.String(), Since: now.UTC()})
	if err != nil { // strings, a number and a time of this century: it cannot happen
		return nil
	}
	return data
}
