package zkconn

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/go-zookeeper/zk"
)

// What keeps a request from being answered, though there are servers: they hang up on it, say nothing, or put it off.

// Trouble says in words what keeps the operation of an error from being carried out, where sending it again may meet the
// same: "the server hangs up on create container /x". It is empty for all other errors.
//
// A connection that is lost for other reasons reads the same, because nothing tells the two apart. So one such error
// says little, and the second in a row of the same request says much.
func Trouble(err error) string {
	var of *Error
	if !errors.As(err, &of) {
		return ""
	}
	for _, known := range troubles {
		if errors.Is(err, known.value) {
			return fmt.Sprintf("%s %s %s", known.text, of.Op, of.Path)
		}
	}
	return ""
}

var troubles = []struct {
	value error
	text  string
}{
	{ErrHungUp, "the server hangs up on"},
	{ErrNoAnswer, "the server does not answer"},
	{ErrServerError, "the server fails at"},
	// A follower that keeps sessions local has its leader look at a transaction, which does not know the session.
	{zk.ErrSessionExpired, "the servers say that the session is over, or local to one of them, to"},
	{ErrThrottled, "the server is throttled and does not carry out"},
	{ErrReadOnly, "the server is read-only and does not carry out"},
	{ErrSessionMoved, "the session has moved to another server, and this one does not carry out"},
}

// lastLoss is how the newest connection with a session was lost: ErrHungUp, ErrNoAnswer, or nil for another way.
type lastLoss struct{ how atomic.Pointer[error] }

// note takes the cause for which a connection is given up. It comes before requests without an answer end.
func (l *lastLoss) note(cause error) {
	how := error(nil)
	var timeout net.Error
	switch {
	case hungUp(cause):
		how = ErrHungUp
	case errors.As(cause, &timeout) && timeout.Timeout():
		how = ErrNoAnswer
	}
	l.how.Store(&how)
}

// of gives how the connection was lost that a request failed with.
func (l *lastLoss) of(cause error) error {
	if how := l.how.Load(); how != nil && errors.Is(cause, zk.ErrConnectionClosed) {
		return *how
	}
	return nil
}

// patientPart is the part of a session timeout for which a throttled request is sent again here. A heartbeat so ends
// before the next is due, at T/6. Whoever has asked for longer asks again, with pauses of their own.
const patientPart = 12

// patiently sends a throttled request again, which was not carried out: after pauses of 20 to 500 ms, jittered by half.
// No more is sent once the Conn is closed, or after a twelfth of the session timeout.
func (c *Conn) patiently(send func() error) error {
	err := send()
	if !throttled(err) {
		return err
	}
	pauses := backoff.NewExponentialBackOff(backoff.WithInitialInterval(20*time.Millisecond), backoff.WithMultiplier(2),
		backoff.WithMaxInterval(500*time.Millisecond), backoff.WithMaxElapsedTime(c.SessionTimeout()/patientPart))
	for throttled(err) {
		pause := pauses.NextBackOff()
		if pause == backoff.Stop || !c.pause(pause) {
			break
		}
		err = send()
	}
	return err
}

func throttled(err error) bool { return err != nil && classify(err) == ErrThrottled }
