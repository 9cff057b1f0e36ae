package messages

import "time"

// Mode is the kind of lock that is asked for.
type Mode uint8

// Exclusive is a lock that one contender holds at a time. It is the zero value.
const Exclusive Mode = 0

// String gives the mode's name.
func (m Mode) String() string {
	if m == Exclusive {
		return "exclusive"
	}
	return "unknown"
}

// Acquire says what a lock actor is to acquire.
type Acquire struct {
	// Path is the lock path: absolute, the parent znode of the queue.
	Path string
	// Mode is the kind of lock; Exclusive is the zero value.
	Mode Mode
	// Timeout ends the request when it does not hold after this long; zero means never.
	Timeout time.Duration
	// Try gives up at once when somebody else is before us, instead of waiting.
	Try bool
	// Grace is how long the holder keeps the lock after it was asked back; then it is released by
	// force. Zero means that a request to give it back is told to the owner and nothing more.
	Grace time.Duration
	// Label is shown to people who look at the queue. It is written into the contender's node.
	Label string
}

// Release gives the lock back. Before it is held it means Cancel. Sending it again changes nothing.
type Release struct{}

// Cancel ends a request that is no longer wanted; its node is deleted before it ends. A request that
// holds already gives the lock back.
type Cancel struct{}

// Revoke asks the holder to give the lock back: the owner is told RevokeRequested. It says nothing
// to a request that does not hold.
type Revoke struct{}
