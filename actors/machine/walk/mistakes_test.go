package walk

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/messages"
)

var exclusives [maxContenders]messages.Mode

// TestMistakesAreFound shows that the walk can fail: each mistake breaks an invariant, and it is known
// which one comes first.
func TestMistakesAreFound(t *testing.T) {
	for name, c := range map[string]struct {
		mistake  Mistake
		sessions []int
		bounds   Bounds
		breaks   Invariant
		modes    [maxContenders]messages.Mode
	}{
		"skip the second listing":         {SkipSecondListing, twoOne, Bounds{Cancels: 1}, InOrder, exclusives},
		"grant without a lease":           {GrantWithoutLease, apart, Bounds{Lapses: 1}, Notices, exclusives},
		"adopt any owner's node":          {AdoptAnyOwner, apart, Bounds{Cuts: 1, Expiries: 1}, Exclusion, exclusives},
		"verify without sync":             {VerifyWithoutSync, apart, Bounds{Cuts: 1, Lags: 1}, NoOrphan, exclusives},
		"verify while creating":           {VerifyDoesNotWait, apart, Bounds{Cuts: 1}, NoOrphan, exclusives},
		"hand over what is not held":      {HandOverUnheld, two, Bounds{Cancels: 1}, InOrder, exclusives},
		"forget an unknown delete":        {ForgetDelete, apart, Bounds{Cuts: 1}, NoOrphan, exclusives},
		"forget an unknown create":        {ForgetCreate, apart, Bounds{Cuts: 1}, NoOrphan, exclusives},
		"forget an actor that stopped":    {ForgetEnded, apart, Bounds{Stops: 1}, NoOrphan, exclusives},
		"withdraw what is under way":      {WithdrawAnyway, apart, Bounds{Cancels: 1}, NoOrphan, exclusives},
		"watch a node that is gone":       {WatchTheGone, apart, Bounds{}, NoLostWakeUp, exclusives},
		"register the watch too late":     {RegisterLate, apart, Bounds{}, NoLostWakeUp, exclusives},
		"keep quiet about a cut":          {KeepQuiet, apart, Bounds{Cuts: 1}, NoLostWakeUp, exclusives},
		"carry out an old epoch's order":  {OldOrders, two, Bounds{Cuts: 1, Expiries: 1, Late: 1}, OneSession, exclusives},
		"expire before the lease is over": {ExpireEarly, apart, Bounds{Expiries: 1}, Exclusion, exclusives},
		"token by sequence number":        {TokenBySequence, apart, Bounds{Reaps: 1}, TokensRise, exclusives},
		"run an old verification last":    {OldVerifyLast, single, Bounds{Cuts: 2, Cancels: 1}, AllEnd, exclusives},
		"let a reader in beside a writer": {ReaderBesideWriter, apart, Bounds{}, InOrder, writeReadRead},
		"let a writer in beside a reader": {WriterBesideReader, apart, Bounds{}, InOrder, readWrite},
		"have a reader wait for a reader": {ReaderBehindOwnReader, two, Bounds{}, NoLostWakeUp, readReadWrite},
		"hand over to who looks ahead":    {HandOverToWhoLooksAhead, twoOne, Bounds{}, InOrder, exclusives},
		"delete whoever is next":          {DeleteRegardless, twoOne, Bounds{Breaks: 1}, Exclusion, exclusives},
		"adopt another's contest":         {AdoptAnothersContest, apart, Bounds{}, TokensRise, contests},
	} {
		t.Run(name, func(t *testing.T) {
			plan := Plan{Name: name, Sessions: c.sessions, Bounds: c.bounds, Spared: spareB, Mistake: c.mistake, Modes: c.modes, Limit: 3_000_000}
			result, err := Walk(plan)
			var violation *Violation
			require.True(t, errors.As(err, &violation), "%v: %v", result, err)
			t.Logf("%v\n%v", result, violation)
			require.Equal(t, c.breaks, violation.Invariant)
		})
	}
}

// TestSecondIsNoProof: that the one before the predecessor is gone does not mean that the predecessor is the head. It
// takes four nodes to see that, the fourth of a session that is over and not buried yet.
func TestSecondIsNoProof(t *testing.T) {
	plan := Plan{Sessions: oneTwo, Prompt: true, Bounds: Bounds{Lapses: 1, Expiries: 1, Cancels: 1}, After: []string{
		"session B: the servers carry out Create of contender 3",
		"session A: the servers carry out Create of contender 1",
		"session B: the servers carry out Create of contender 2",
		"session A: the lease runs out",
		"session A: the servers end the session",
		"session A: the servers, which have ended it, cut the connection",
		"session A: it hears: disconnected",
		"session A: a server is found",
		"session A: it hears: expired",
		"session A: a server is found",
		"session A: it hears: connected",
		"session A: the servers carry out Create of contender 1",
		"session A: the servers carry out List",
	}}
	result, err := Walk(plan)
	require.NoError(t, err, result)
	t.Log(result)
	plan.Mistake = TakeTheSecondForTheHead
	result, err = Walk(plan)
	var violation *Violation
	require.True(t, errors.As(err, &violation), "%v: %v", result, err)
	t.Logf("%v\n%v", result, violation)
	require.Equal(t, InOrder, violation.Invariant)
}

// TestStory: a violation is told from the start, one move a line, by the shortest way.
func TestStory(t *testing.T) {
	_, err := Walk(Plan{Sessions: apart, Bounds: Bounds{Expiries: 1}, Mistake: ExpireEarly})
	require.EqualError(t, err, `invariant 1: mutual exclusion
contender 1 and contender 2 both hold the lock with valid leases:
  1. session A: the servers carry out Create of contender 1
  2. session A: the answer comes to Create of contender 1; contender 1 hears Created, alone; `+
		`contender 1: creating → held [alone, lease valid]: grant; contender 1: TellHeld
  3. session A: the servers end the session
  4. session A: the nodes of the session that is over are deleted
  5. session B: the servers carry out Create of contender 2
  6. session B: the answer comes to Create of contender 2; contender 2 hears Created, alone; `+
		`contender 2: creating → held [alone, lease valid]: grant; contender 2: TellHeld`)
}

// TestLimit: a walk that comes to too many states says so.
func TestLimit(t *testing.T) {
	_, err := Walk(Plan{Sessions: twoOne, Limit: 100})
	require.ErrorContains(t, err, "more than 100 states")
}
