package queue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Owner describes the request that made a contender's node: its data, as JSON.
type Owner struct {
	// Asked: somebody has asked the holder for the lock. It is the first field: see the function
	// Asked.
	Asked bool   `json:"asked,omitempty"`
	Host  string `json:"host"`
	PID   int    `json:"pid"`
	// ID is the GUID of a request in a contest, whose node's name has none.
	ID string `json:"id,omitempty"`
	// Guard is the name of the guard beside a contest's node: see GuardName.
	Guard string `json:"guard,omitempty"`
	// Actor is the address of its actor; Owner and Caller are its keys.
	Actor  string `json:"actor,omitempty"`
	Owner  string `json:"owner,omitempty"`
	Caller string `json:"caller,omitempty"`
	Label  string `json:"label,omitempty"`
	// Priority is the priority of a candidate in an election.
	Priority int    `json:"priority,omitempty"`
	Mode     string `json:"mode"`
	// Place is the place of the node among the creates of its transaction, for the fencing token.
	Place int `json:"place,omitempty"`
	// Reclaim is the key by which a restarted process takes the hold back. Token is that of a
	// reclaimed hold; zero where czxid and Place tell it.
	Reclaim string `json:"reclaim,omitempty"`
	Token   int64  `json:"token,omitempty"`
	// Detects: the request looks for deadlocks.
	Detects bool `json:"detects,omitempty"`
	// Since is the time of the request, by the clock of that machine.
	Since time.Time `json:"since"`
}

// OwnerHere describes an actor of this process, by its messages.ActorID.Key.
func OwnerHere(actor string) Owner { return Owner{Host: hostname(), PID: os.Getpid(), Actor: actor} }

// Caller makes a messages.Acquire.Caller of an actor's messages.ActorID.Key that no other process
// has.
func Caller(actor string) string { return OwnerHere(actor).Who() }

var hostname = sync.OnceValue(func() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
})

// ParseOwner reads the data of a contender's node; false where Turnstile did not write them.
func ParseOwner(data []byte) (Owner, bool) {
	var o Owner
	if json.Unmarshal(data, &o) != nil || o.Host == "" {
		return Owner{}, false
	}
	for m := messages.Exclusive; m.Known(); m++ {
		if m.String() == o.Mode {
			return o, true
		}
	}
	return Owner{}, false
}

// Describe completes a contender from its node's data.
func (o Owner) Describe(c *messages.Contender) {
	c.Host, c.PID, c.Actor, c.Owner, c.Caller, c.Label = o.Host, o.PID, o.Actor, o.Owner, o.Caller, o.Label
	c.Priority, c.Who, c.Detects = o.Priority, o.Who(), o.Detects
	if !o.Since.IsZero() {
		c.Since = o.Since
	}
}

// Who names the caller that is blocked while the request waits: its key, or else the actor with
// process and machine; "" where unknown.
func (o Owner) Who() string {
	switch {
	case o.Caller != "":
		return o.Caller
	case o.Owner != "":
		return o.Owner
	case o.Actor != "":
		return fmt.Sprintf("%s/%d/%s", o.Host, o.PID, o.Actor)
	}
	return ""
}

// A revoke request replaces the data of another library's node by one of these words: the recipe's,
// or Curator's.
const (
	RevokeRequest        = "unlock"
	CuratorRevokeRequest = "__REVOKE__"
)

const askedFirst = `{"asked":true,`

// Asked gives the data of a contender's node with a revoke request. Data that Turnstile has written
// stay; other data are replaced by RevokeRequest.
//
// The ID of a contest's holder is removed: by the time of the write the node may be another
// contender's, which would not recognise itself by that ID. Without an ID the Guard is not believed
// either, and Break, which goes by it, is refused. The holder corrects all fields when it hears of
// the request.
func Asked(data []byte) []byte {
	o, ours := ParseOwner(data)
	switch {
	case !ours || data[0] != '{':
		return []byte(RevokeRequest)
	case IsRevokeRequest(data):
		return data
	case o.Mode == messages.Contest.String():
		o.Asked, o.ID = true, ""
		return o.Encode()
	}
	return append([]byte(askedFirst), data[1:]...) // with fields that only a newer Turnstile knows
}

// IsRevokeRequest reports whether the data of a contender's node ask its holder to give the lock
// back.
func IsRevokeRequest(data []byte) bool {
	return Overwritten(data) || bytes.HasPrefix(data, []byte(askedFirst))
}

// Overwritten reports whether a revoke request has replaced the data of a contender's node.
func Overwritten(data []byte) bool {
	return string(data) == RevokeRequest || string(data) == CuratorRevokeRequest
}

// MaxPermits bounds a semaphore's permits and a contender's weight: far above any queue, far below
// an overflow of sums.
const MaxPermits = 1 << 30

// CheckPermits says why a number of permits is refused; "" where it is not.
func CheckPermits(n int) string {
	if n < 1 || n > MaxPermits {
		return fmt.Sprintf("permits %d: a semaphore has at least one, and at most %d", n, MaxPermits)
	}
	return ""
}

// ErrNoPermits: the data of a lock path are not a number of permits.
var ErrNoPermits = errors.New("turnstile: not a semaphore's number of permits")

// ParsePermits reads the data of a semaphore's lock path: its permits in decimal, as kazoo writes
// them.
func ParsePermits(data []byte) (int, error) {
	n, err := strconv.Atoi(string(data))
	if err != nil || CheckPermits(n) != "" {
		return 0, fmt.Errorf("%w: %.40q", ErrNoPermits, data)
	}
	return n, nil
}

// Encode gives the data of a contender's node.
func (o Owner) Encode() []byte {
	data, _ := json.Marshal(o) // texts, numbers, and a time of this age
	return data
}
