package relay

import "github.com/turnstile-locks/turnstile/messages"

// Output is what an end asks its shell to do: Send, Dismiss, Say, Trouble, Extend, EndLease or End of the
// requester, Spawn, Tell or Answer of the gateway.
type Output any

// What the requester asks its shell to do.
type (
	// Send sends to a gateway, by its number among those that are named.
	Send struct {
		Gateway int
		Request Request
	}
	// Dismiss sends to whom the reply came from.
	Dismiss struct{ Request Request }
	// Say tells the owner and the observers; messages.Transition is for observers only. Times in it
	// and the actor of its grant are the shell's to fill in, from the lease and the clock.
	Say struct {
		Notice any
		// Deadline is that of messages.RevokeRequested; zero for none.
		Deadline Instant
	}
	// Trouble tells the listener what keeps the request from being carried out; "" for nothing any more.
	Trouble struct{ Text string }
	// Extend says until when the lease lasts: the first before Held.
	Extend struct{ Until Instant }
	// EndLease ends the lease.
	EndLease struct{}
	// End stops the request's actor.
	End struct{}
)

// What the gateway asks its shell to do.
type (
	// Spawn spawns a lock actor for a request of the node From. It must not enforce a grace period: the table does.
	Spawn struct {
		ID, From string
		Want     messages.Acquire
	}
	// Tell sends a command to the lock actor of a request.
	Tell struct {
		ID      string
		Command any
	}
	// Answer sends a reply to a requester.
	Answer struct {
		To    messages.ActorID
		Reply Reply
	}
)
