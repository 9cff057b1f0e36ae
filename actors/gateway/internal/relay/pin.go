package relay

// Prefer says with which gateway to begin; without it, that is the first.
func (r *Requester) Prefer(gateway int) { r.gateway = gateway }

// Gateway is the gateway that the request is with, or goes to next.
func (r *Requester) Gateway() int { return r.gateway }

// Accepted tells whether that gateway has accepted it.
func (r *Requester) Accepted() bool { return r.accepted }

// Pin keeps a request that waits at one gateway, because its owner holds the lock there: no other
// one knows that, and would have the owner wait for itself. It goes there if it is not there.
func (r *Requester) Pin(now Instant, gateway int) []Output {
	if !r.waits() {
		return nil
	}
	r.pinned = true
	if r.gateway == gateway {
		return nil
	}
	return r.again(now, gateway, "Moved")
}

// Unpin lets the request go on elsewhere again.
func (r *Requester) Unpin() { r.pinned = false }

// moves tells whether there is another gateway to go to.
func (r *Requester) moves() bool { return r.gateways > 1 && !r.pinned }

// next is that one; the same where there is none.
func (r *Requester) next() int {
	if !r.moves() {
		return r.gateway
	}
	return (r.gateway + 1) % r.gateways
}
