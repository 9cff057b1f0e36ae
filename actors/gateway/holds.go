package gateway

import (
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
)

// claim is the lock of an owner.
type claim struct {
	owner, path, name string
	contest           bool
}

// claimOf gives the claim of a request whose Owner is set; false for a semaphore, where owners mean
// nothing.
func claimOf(want messages.Acquire) (claim, bool) {
	return claim{want.Owner, want.Path, want.Name, want.Mode == messages.Contest}, want.Mode != messages.Semaphore
}

// location is where a request is: by its number for a gateway that is named, by its address for one that was
// found.
type location struct {
	gateway int
	found   *actor.PID // that has accepted the request; nil for one that is named
}

func (l location) equal(o location) bool {
	if l.found == nil || o.found == nil {
		return l.found == o.found && l.gateway == o.gateway
	}
	return l.found.Equal(o.found)
}

// site is a gateway by which an owner holds a lock. All its requests that hold there share it.
type site struct {
	claim    claim
	at       location
	requests int
}

// holds are the sites of owners that hold, the newest last. There is none for an owner that does not hold.
type holds map[claim][]*site

// add adds a request that holds, and gives its site.
func (h holds) add(of claim, at location) *site {
	for _, s := range h[of] {
		if s.at.equal(at) {
			s.requests++
			return s
		}
	}
	s := &site{claim: of, at: at, requests: 1}
	h[of] = append(h[of], s)
	return s
}

// remove takes it that one request of a site holds no more.
func (h holds) remove(s *site) {
	if s.requests--; s.requests > 0 {
		return
	}
	left := slices.DeleteFunc(h[s.claim], func(o *site) bool { return o == s })
	if len(left) == 0 {
		delete(h, s.claim)
		return
	}
	h[s.claim] = left
}

// of gives the newest gateway by which an owner holds.
func (h holds) of(c claim) (at location, is bool) {
	sites := h[c]
	if len(sites) == 0 {
		return location{}, false
	}
	return sites[len(sites)-1].at, true
}
