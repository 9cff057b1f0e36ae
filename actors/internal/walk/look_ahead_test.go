package walk

import "github.com/turnstile-locks/turnstile/actors/internal/coordinator"

// Look-ahead: its plans, and mistakes in it.

func init() {
	smallReturns = append(smallReturns, secondIsNoProof,
		Plan{Name: "a node returns, another session between, no look-ahead", Sessions: []int{0, 1, 0}, Arrive: secondThird,
			Prompt: true, Without: coordinator.LookAhead, Bounds: Bounds{Returns: 1, Polls: Always}})
	inCoordinator = append(inCoordinator,
		seeded{name: "hand over to who looks ahead", source: edits(
			rule("w.role == awaitsNode && next.wait.nodes[0] == n.name &&", "w.role == awaitsNode &&")),
			plan: Plan{Sessions: []int{0, 1, 0}}, breaks: InOrder},
		seeded{name: "take the second for the head", source: edits(
			rule("if !position.Head {",
				"if r.view.head = position.Predecessor; !position.Head {")),
			plan: secondIsNoProof, breaks: InOrder})
}

// secondIsNoProof takes four nodes, the third from the end of a session that is over and not buried yet: that the one
// before the predecessor is gone does not mean that the predecessor is the head.
var secondIsNoProof = Plan{Name: "the second is no proof", Sessions: oneTwo, Prompt: true,
	Bounds: Bounds{Lapses: 1, Expiries: 1, Cancels: 1}, After: []string{
		"session B: the servers carry out Create of stage 0",
		"session A: the servers carry out Create of stage 0",
		"session B: the servers carry out Create of stage 0",
		"session A: the lease runs out",
		"session A: the servers end the session",
		"session A: the servers, which have ended it, cut the connection",
		"session A: an event arrives",
		"session A: a server is found",
		"session A: an event arrives",
		"session A: a server is found",
		"session A: an event arrives",
		"session A: the servers carry out Create of stage 0",
	}}
