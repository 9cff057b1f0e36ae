package walk

import (
	"slices"
	"time"

	"github.com/turnstile-locks/turnstile/messages"
)

// Calls that share holds above the queue: turns over machines and coordinators.

// What calls want, and how many of them.
var (
	inCohort = Call{Cohort: 2}
	forLong  = Call{Cohort: 8}
	sticks   = Call{Sticky: 3 * time.Second} // two ticks end that, and one is a rest
	both     = Call{Cohort: 2, Sticky: 3 * time.Second}
	writes   = Call{Mode: messages.Write, Cohort: 8}
	reads    = Call{Mode: messages.Read, Cohort: 8}
)

func times(n int, c Call) (all []Call) {
	for range n {
		all = append(all, c)
	}
	return all
}

// of gives calls of a session.
func of(session int, calls ...Call) (all []Call) {
	for _, c := range calls {
		c.Session = session
		all = append(all, c)
	}
	return all
}

// named gives a call the queue with a name.
func (c Call) named(name string) Call {
	c.Name = name
	return c
}

func (c Call) within(other int) Call {
	c.Within, c.Reentry = other, true
	return c
}

func trying(c Call) Call {
	c.Try = true
	return c
}

func (c Call) grace() Call {
	c.Grace = 100 * time.Millisecond
	return c
}

// smallCalls are the plans of every test run.
var smallCalls = []Plan{
	{Name: "calls", Sessions: three, Calls: times(3, Call{}), Bounds: Bounds{Quits: 1}},
	{Name: "calls in a cohort, apart", Sessions: threeOne, Calls: times(3, inCohort), Bounds: Bounds{Quits: 1}},
	{Name: "calls in a cohort, a lapse", Sessions: three, Calls: times(3, forLong), ClockTells: true,
		Bounds: Bounds{Lapses: 1, Slow: 1}},
	{Name: "a kept hold", Sessions: twoOne, Calls: times(2, sticks), Arrive: third, Swept: true, Bounds: Bounds{Ticks: 1}},
	{Name: "a kept hold, an operator", Sessions: two, Calls: times(2, sticks), Bounds: Bounds{Ticks: 1, Breaks: 1}},
	{Name: "calls, a downgrade", Sessions: three,
		Calls: []Call{{Mode: messages.Write}, Call{Mode: messages.Read}.within(1), {Mode: messages.Write}}, Bounds: Bounds{Breaks: 1}},
	twoInABatch,
	{Name: "calls in a cohort, a cut, slow", Sessions: three, Calls: times(3, forLong), Bounds: Bounds{Cuts: 1, Slow: 1}},
}

// largeCalls are the plans of `make walk`.
var largeCalls = []Plan{
	{Name: "calls, withdrawn", Sessions: three, Calls: times(3, forLong), Bounds: Bounds{Quits: 2, Slow: 1}},
	{Name: "calls, a cut and a withdrawal", Sessions: three, Calls: times(2, Call{}), Bounds: Bounds{Cuts: 1, Quits: 1}},
	{Name: "calls in a cohort, a stop", Sessions: four, Calls: times(3, forLong), Bounds: Bounds{Stops: 1, Late: 1}},
	{Name: "calls in a cohort, a heartbeat late", Sessions: three, Calls: times(3, forLong), Bounds: Bounds{Silences: 1, Slow: 1}},
	{Name: "calls in a cohort, a lapse, every order", Sessions: two, LateAnswers: true, Calls: times(2, forLong), Bounds: Bounds{Lapses: 1, Slow: Always}},
	{Name: "calls in a cohort, a session given up", Sessions: four, Calls: times(3, forLong), ClockTells: true,
		Bounds: Bounds{GivesUp: 1, Expiries: 1}},
	{Name: "calls held behind, a heartbeat late", Sessions: three, Calls: times(2, Call{}),
		Bounds: Bounds{Breaks: 1, Silences: 1, Slow: 1}},
	{Name: "calls of two wishes, an operator", Sessions: three, Calls: []Call{forLong, {}, forLong},
		Bounds: Bounds{Breaks: 1, Slow: 1}},
	{Name: "calls, one tries", Sessions: three, Calls: []Call{forLong, trying(forLong), forLong}, Bounds: Bounds{Quits: 1, Slow: 1}},
	{Name: "calls of readers, an operator", Sessions: two, Calls: []Call{reads, writes}, Bounds: Bounds{Breaks: 1}},
	{Name: "calls of readers, a cut", Sessions: three, Calls: times(3, reads), Bounds: Bounds{Cuts: 1}},
	{Name: "a kept hold, its time", Sessions: two, Calls: times(2, sticks), Bounds: Bounds{Ticks: 2}},
	{Name: "a kept hold, an expiry", Sessions: three, Calls: times(2, sticks), ClockTells: true,
		Bounds: Bounds{Lapses: 1, Expiries: 1, Ticks: 1}},
	{Name: "a kept hold, an operator and a contender", Sessions: apart, Calls: times(2, sticks), Arrive: second,
		Spared: spareB, Bounds: Bounds{Ticks: 1, Breaks: 1}},
	{Name: "calls of two clients, an operator", Sessions: []int{0, 0, 1, 1}, Bounds: Bounds{Breaks: 1},
		Calls: slices.Concat(of(0, sticks), of(1, forLong, forLong))},
	{Name: "calls in a cohort, an operator", Sessions: threeOne, Calls: times(3, forLong), Bounds: Bounds{Breaks: 1}},
	{Name: "calls in a cohort, an expiry", Sessions: three, Calls: times(3, forLong),
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "a kept hold, a cut", Sessions: two, Calls: times(2, sticks), Bounds: Bounds{Ticks: 1, Cuts: 1}},
	{Name: "a kept hold that is wanted", Sessions: three, Calls: times(2, both), Bounds: Bounds{Asks: 1, Ticks: 1}},
	{Name: "calls of readers", Sessions: threeOne, Calls: []Call{reads, reads, writes, reads}},
	{Name: "calls of one owner", Sessions: three, Calls: []Call{forLong, forLong.within(1), forLong},
		Bounds: Bounds{Cuts: 1}},
	{Name: "calls that are asked", Sessions: three, Calls: times(3, forLong.grace()), Bounds: Bounds{Asks: 1}},
	{Name: "calls of two clients", Sessions: []int{0, 0, 1, 1}, Calls: slices.Concat(of(0, forLong, forLong), of(1, forLong, forLong))},
}

// twoInABatch: the nodes of two queues of one lock path are made in one transaction.
var twoInABatch = Plan{Name: "two queues in one batch", Sessions: four,
	Calls: []Call{forLong, forLong, forLong.named("x"), forLong}}
