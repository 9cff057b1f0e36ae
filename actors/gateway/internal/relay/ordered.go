package relay

import "github.com/turnstile-locks/turnstile/messages"

// ordered is what the owner wants of the request.
type ordered struct {
	what   Order
	why    messages.Reason
	at     Instant // when it was given
	revoke uint64  // the first sending that asks the lock back; zero for none
}

// ends tells whether the owner wants the request to end.
func (o *ordered) ends() bool { return o.what >= Cancel }
