package walk

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
)

// The splits of contenders over sessions.
var (
	single = []int{0}
	two    = []int{0, 0}
	apart  = []int{0, 1}
	twoOne = []int{0, 0, 1}
	oneTwo = []int{0, 1, 1}
	spareB = [maxSessions]bool{1: true}
	all    = [maxContenders]bool{true, true, true}
	oneTry = [maxContenders]bool{1: true}
)

// Kinds of lock, for each contender.
var (
	readReadWrite  = [maxContenders]messages.Mode{messages.Read, messages.Read, messages.Write}
	writeReadRead  = [maxContenders]messages.Mode{messages.Write, messages.Read, messages.Read}
	readWrite      = [maxContenders]messages.Mode{messages.Read, messages.Write}
	contests       = [maxContenders]messages.Mode{messages.Contest, messages.Contest, messages.Contest}
	writeReadWrite = [maxContenders]messages.Mode{messages.Write, messages.Read, messages.Write}
)

// small are the bounds of every test run.
var small = []Plan{
	{Name: "calm, every order", Sessions: apart, Bounds: Bounds{Slow: Always}},
	{Name: "calm, one session, every order", Sessions: two, Bounds: Bounds{Slow: Always, Polls: 1}},
	{Name: "calm, three", Sessions: twoOne},
	{Name: "a cut", Sessions: apart, Spared: spareB, Bounds: Bounds{Cuts: 1, Lags: 1}},
	{Name: "a cut, three", Sessions: oneTwo, Prompt: true, Spared: spareB, Bounds: Bounds{Cuts: 1}},
	{Name: "a cut, one session", Sessions: two, Prompt: true, Bounds: Bounds{Cuts: 1}},
	{Name: "an expiry, three", Sessions: oneTwo, Prompt: true, Spared: spareB, Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "a cut and an expiry", Sessions: apart, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1, Lapses: 1, Expiries: 1}},
	{Name: "a release and more", Sessions: two, Prompt: true,
		Bounds: Bounds{Releases: 2, Timeouts: 1, Revokes: 1, Slow: 1}},
	{Name: "a cancel, every order", Sessions: apart, Bounds: Bounds{Cancels: 1, Slow: Always}},
	{Name: "a cancel, three", Sessions: twoOne, Prompt: true, Bounds: Bounds{Cancels: 1}},
	{Name: "only trying", Sessions: two, Try: all, Bounds: Bounds{Releases: 1, Slow: 1}},
	{Name: "only trying, apart", Sessions: apart, Try: oneTry, Prompt: true, Bounds: Bounds{Cuts: 1}},
	{Name: "an actor stops", Sessions: two, Prompt: true, Bounds: Bounds{Stops: 1, Cuts: 1}},
	{Name: "an actor stops, late orders", Sessions: two, Bounds: Bounds{Stops: 1, Late: 1}},
	{Name: "an operator", Sessions: two, Bounds: Bounds{Breaks: 1, Reaps: 1}},
	{Name: "an operator, apart", Sessions: apart, Bounds: Bounds{Breaks: 1, Polls: 1}},
	{Name: "an operator, lapses", Sessions: apart, Prompt: true, Spared: spareB,
		Bounds: Bounds{Breaks: 1, Lapses: 1, Revokes: 1, Silences: 1}},
	{Name: "closed", Sessions: apart, Prompt: true, Down: true, Arrive: all, Spared: spareB,
		Bounds: Bounds{Closes: 1, Cuts: 1, Cancels: 1}},
	{Name: "alone, much", Sessions: single, Prompt: true,
		Bounds: Bounds{Cuts: 1, Expiries: 1, Lapses: 1, Revokes: 1, Cancels: 1, Silences: 1}},
	{Name: "alone, wanted to end", Sessions: single, Prompt: true,
		Bounds: Bounds{Cuts: 1, Releases: 1, Cancels: 1, Timeouts: 1, Slow: 1}},
	{Name: "alone, a session that is not there yet", Sessions: single, Down: true, Arrive: all,
		Bounds: Bounds{Cuts: 1, Expiries: 1, Releases: 1, Late: 1}},
	{Name: "readers and a writer", Sessions: twoOne, Modes: readReadWrite},
	{Name: "a writer and readers", Sessions: oneTwo, Modes: writeReadRead},
	{Name: "a reader and a writer, every order", Sessions: apart, Modes: readWrite, Bounds: Bounds{Slow: Always}},
	{Name: "a reader and a writer, a cut", Sessions: apart, Modes: readWrite, Spared: spareB, Bounds: Bounds{Cuts: 1, Lags: 1}},
	{Name: "a reader and a writer, an operator", Sessions: apart, Modes: readWrite, Bounds: Bounds{Breaks: 1, Polls: 1}},
	{Name: "writers and a reader, a cancel", Sessions: twoOne, Modes: writeReadWrite, Prompt: true, Bounds: Bounds{Cancels: 1}},
	{Name: "a writer and readers, an expiry", Sessions: oneTwo, Modes: writeReadRead, Prompt: true, Spared: spareB,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "a contest, every order", Sessions: apart, Modes: contests, Bounds: Bounds{Slow: Always, Polls: 1}},
	{Name: "a contest, one session", Sessions: two, Modes: contests, Bounds: Bounds{Slow: 1, Cancels: 1}},
	{Name: "a contest, three", Sessions: twoOne, Modes: contests, Prompt: true, Bounds: Bounds{Cancels: 1}},
	{Name: "a contest, a cut", Sessions: apart, Modes: contests, Prompt: true, Spared: spareB, Bounds: Bounds{Cuts: 1, Lags: 1}},
	{Name: "a contest, a cut and commands", Sessions: apart, Modes: contests, Prompt: true,
		Bounds: Bounds{Cuts: 1, Releases: 1, Timeouts: 1}},
	{Name: "a contest, an expiry", Sessions: apart, Modes: contests, Prompt: true, Spared: spareB,
		Bounds: Bounds{Lapses: 1, Expiries: 1}},
	{Name: "a contest, only trying", Sessions: two, Modes: contests, Try: all, Bounds: Bounds{Releases: 1, Slow: 1}},
	{Name: "a contest, an operator", Sessions: apart, Modes: contests, Prompt: true, Bounds: Bounds{Breaks: 1, Closes: 1}},
	{Name: "alone, an operator and a close", Sessions: single, Prompt: true,
		Bounds: Bounds{Cuts: 1, Breaks: 1, Closes: 1, Revokes: 2}},
}

// large are the bounds of `make walk`.
var large = []Plan{
	{Name: "alone, two cuts, slow and late", Sessions: single, Prompt: true,
		Bounds: Bounds{Cuts: 2, Releases: 1, Cancels: 1, Late: 1, Slow: 1}},
	{Name: "alone, two cuts, an expiry", Sessions: single, Prompt: true,
		Bounds: Bounds{Cuts: 2, Expiries: 1, Lapses: 1, Slow: 2}},
	{Name: "alone, two sessions lost, a stop", Sessions: single, Prompt: true,
		Bounds: Bounds{Cuts: 2, Expiries: 2, Late: 1, Stops: 1}},
	{Name: "alone, an operator, two cuts", Sessions: single, Prompt: true,
		Bounds: Bounds{Cuts: 2, Breaks: 1, Silences: 1, Slow: 1, Late: 1}},
	{Name: "alone, every order", Sessions: single, Bounds: Bounds{Cuts: 2, Lapses: 1, Silences: 1, Slow: Always}},
	{Name: "alone, not there yet", Sessions: single, Down: true, Arrive: all,
		Bounds: Bounds{Cuts: 2, Cancels: 1, Expiries: 1, Releases: 1, Late: 1}},
	{Name: "apart, a cut, every order", Sessions: apart, Bounds: Bounds{Cuts: 1, Silences: 1, Slow: Always}},
	{Name: "apart, an expiry, every order", Sessions: apart, Bounds: Bounds{Expiries: 1, Lapses: 1, Slow: Always}},
	{Name: "apart, all that may befall a session", Sessions: apart, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 2, Lags: 1, Expiries: 1, Lapses: 1}},
	{Name: "apart, an operator and a cut", Sessions: apart, Prompt: true,
		Bounds: Bounds{Cuts: 1, Breaks: 1, Lapses: 1, Reaps: 1}},
	{Name: "one session, a cut and a stop", Sessions: two, Prompt: true,
		Bounds: Bounds{Cuts: 1, Stops: 1, Late: 1}},
	{Name: "one session, a cut, every order", Sessions: two, Bounds: Bounds{Cuts: 1, Slow: Always}},
	{Name: "one session, an operator and a cut", Sessions: two, Prompt: true,
		Bounds: Bounds{Cuts: 1, Breaks: 1, Reaps: 1, Silences: 1}},
	{Name: "three, every order", Sessions: twoOne, Bounds: Bounds{Slow: Always}},
	{Name: "three, a cancel", Sessions: twoOne, Bounds: Bounds{Cancels: 1}},
	{Name: "three, a cut and a cancel", Sessions: twoOne, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1, Cancels: 1}},
	{Name: "three, a cut and an expiry", Sessions: twoOne, Prompt: true, Spared: spareB,
		Bounds: Bounds{Cuts: 1, Expiries: 1}},
	{Name: "three, a cut and a stop", Sessions: twoOne, Prompt: true, Spared: spareB, Bounds: Bounds{Cuts: 1, Stops: 1}},
	{Name: "three, an operator, twice", Sessions: twoOne, Prompt: true, Bounds: Bounds{Breaks: 2, Polls: 1}},
	{Name: "three, two cuts", Sessions: oneTwo, Prompt: true, Spared: spareB, Bounds: Bounds{Cuts: 2, Lapses: 1}},
}

// TestWalk explores the small bounds, and with TURNSTILE_WALK=long the large ones.
func TestWalk(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(50)) // what is kept has no pointers
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(3 << 30))
	plans := slices.Concat(small, smallSticky, without(smallWithout))
	if os.Getenv("TURNSTILE_WALK") == "long" {
		plans = slices.Concat(plans, large, largeSticky, without(largeWithout))
	}
	fired := map[*machine.Row]bool{}
	states, transitions := 0, 0
	for _, plan := range plans {
		plan.Limit = 12_000_000
		t.Run(plan.Name, func(t *testing.T) {
			result, err := Walk(plan)
			t.Log(result, megabytes())
			require.NoError(t, err)
			require.NotZero(t, result.Ends)
			states += result.States
			transitions += result.Transitions
			for row := range result.Fired {
				fired[row] = true
			}
		})
	}
	t.Logf("%d plans: %d states, %d transitions", len(plans), states, transitions)
	require.Greater(t, states, 100_000)
	everyRowIsReached(t, fired)
}

// megabytes tells how much memory the test has taken from the system so far, at its most.
func megabytes() string {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return fmt.Sprintf("%d MiB", m.Sys>>20)
}

// everyRowIsReached fails when a row of the table fires in no history, though the model could reach it.
func everyRowIsReached(t *testing.T, fired map[*machine.Row]bool) {
	type name struct {
		from messages.State
		on   machine.Kind
		when string
	}
	reached := map[name]bool{}
	for row := range fired {
		reached[name{row.From, row.On, row.If.Name}] = true
	}
	for _, row := range machine.Rows() {
		if why := beyond(row); why == "" {
			require.True(t, reached[name{row.From, row.On, row.If.Name}], "no history reaches %v, %v [%s]",
				row.From, row.On, row.If.Name)
		}
	}
}

// beyond says why the model does not reach a row.
func beyond(row machine.Row) string {
	guard := row.If.Name
	switch {
	case row.On == machine.Refused, row.On == machine.NotCreated && row.To == messages.StateFailed:
		return "nothing is refused"
	case row.To == messages.StateFailed && row.Do.Name == "done":
		return "only what was refused or exhausted fails after a delete"
	case guard == "sequence exhausted", guard == "found, sequence exhausted":
		return "the counter does not come to its end"
	case guard == "asks for the lock", row.On == machine.OwnChanged:
		return "nodes have no data"
	case guard == "found, was holding, lease over":
		return "the lock actor looks at the clock first"
	case row.On == machine.Expired && guard == "was holding":
		return "the lease is over before the servers end the session"
	}
	return ""
}
