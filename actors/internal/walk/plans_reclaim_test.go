package walk

import "github.com/turnstile-locks/turnstile/messages"

var (
	firstReclaims = [maxActors]bool{true}
	twoReclaim    = [maxActors]bool{true, true}
	thenRead      = [maxActors]messages.Mode{messages.Exclusive, messages.Read}
)

// smallReclaims are requests that take back what an earlier process held, while others wait for it.
var smallReclaims = []Plan{
	{Name: "a hold is reclaimed", Sessions: apart, Reclaim: firstReclaims},
	{Name: "a hold is reclaimed, a reader waits", Sessions: apart, Modes: thenRead, Reclaim: firstReclaims},
	{Name: "a hold is reclaimed, one more of the session", Sessions: twoOne, Reclaim: firstReclaims, Prompt: true},
	{Name: "a hold is reclaimed by two", Sessions: twoOne, Reclaim: twoReclaim, Prompt: true},
	{Name: "a hold is reclaimed, a cut", Sessions: apart, Reclaim: firstReclaims, Spared: spareB, Bounds: Bounds{Cuts: 1}},
	{Name: "a hold is reclaimed, the waiter is cut", Sessions: []int{1, 0}, Reclaim: firstReclaims, Prompt: true,
		Spared: spareB, Bounds: Bounds{Cuts: 1, Lags: 1}},
	{Name: "a hold is reclaimed, an expiry", Sessions: apart, Reclaim: firstReclaims, Prompt: true, Spared: spareB,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "a hold is reclaimed, somebody wants it", Sessions: apart, Reclaim: firstReclaims, Prompt: true,
		Bounds: Bounds{Asks: 1}},
	{Name: "a hold is reclaimed, an operator", Sessions: apart, Reclaim: firstReclaims, Prompt: true,
		Bounds: Bounds{Breaks: 1}},
	{Name: "a hold is reclaimed, a cancel and a stop", Sessions: apart, Reclaim: firstReclaims,
		Bounds: Bounds{Cancels: 1, Stops: 1}},
}

// largeReclaims are the plans of `make walk`.
var largeReclaims = []Plan{
	{Name: "a hold is reclaimed, a cut and an expiry", Sessions: apart, Reclaim: firstReclaims, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1, Lapses: 1, Expiries: 1}},
	{Name: "a hold is reclaimed by two, a cut", Sessions: twoOne, Reclaim: twoReclaim, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1}},
}
