// Package term is for work under a lock: when it campaigns, when its work runs, when the work is to
// end, and when the lock is given back. A [Machine] decides. It is pure: no clock, timer, goroutine,
// context or actor. Around it are what its users share. [Clocked] has its clock and its pauses. For
// work that is an actor, [Candidacy] listens to the lock actor, makes events of its notices and has the
// [Lease], [Closing] has a session that closes wait, and [Last] and [Continues] serve what passes no
// middleware. The users keep the work itself: how it is begun, told and ended.
//
//	        Begin, PauseOver        Held, valid         Revoke, Close, Stop, too many failures
//	paused ─────────────────▶ campaigning ────────▶ active ─────────────────────▶ stopping, draining
//	  ▲ ▲                      │      │              │  │                            │           │
//	  │ └──────────────────────┘      │ Declined,    │  │ WorkEnded        WorkEnded │           │
//	  │        LockEnded              ▼ Lapse        │  ▼                            │           │
//	  │                            releasing ◀───────┼── ◀────────────────────────────┘           │
//	  │        LockEnded            │    ▲           │                                            │
//	  ├─────────────────────────────┘    │ WorkEnded │                                      Lapse │
//	  │                                  │           ▼ Lapse                                      │
//	  │                                  └───────── lapsed ◀──────────────────────────────────────┤
//	  │                                              │                                            │
//	  │        WorkEnded                             ▼ Gone, LockEnded            Gone, LockEnded │
//	  └──────────────────────────────────────────── lost ◀────────────────────────────────────────┘
//
// An active term that hears Gone or LockEnded is lost, too. Work that waits for the lock (Waits) is
// stopping, lapsed or lost also where the campaign has ended without a term. Each phase goes to
// ended in place of releasing or paused where nothing is to follow.
//
// # What it keeps true
//
//   - Work begins and goes on only while the lock is held with a valid lease, and no other work
//     runs. Work whose lock is not held any more has its context ended, and is stopped
//     (TestWorkOnlyWhileHeld).
//   - The lock is given back only when no work runs (TestGivenBackWithoutWork).
//   - A new campaign begins only when no work runs, and the lock of the one before is known to be
//     gone (TestCampaignsWhenTheLockIsGone).
//   - Something always follows: no phase waits for what cannot come (TestNeverStandsStill).
//
// These tests try every order of events, with every policy. Whether a lease is valid is for the
// users to say: Event.Valid. They ask the clock before they call a function or serve a message. A
// lease ends before anything of its loss is told: its context is the lease's own
// (TestLeaseEndsFirst), and in package locks the work's context ends with it. So no effect ends a
// context but StopWork that of work which is asked to go.
//
// # Who uses it
//
//	policy      user                             terms  the work        ends by itself   revoke request
//	Once        locks.Do, RunOnce, RunOnceFor    one    a function      it ends          is the work's
//	Leader      locks.Election.Run               many   a function      error decides    ends its context
//	Singleton   actors.NewSingleton              many   a child         starts anew      stops it
//	Activation  package activation               one    an actor waits  it ends          drains it
//
// The function of Leader returns an error. One that may pass (locks.MayPass) has it campaign again;
// another, and none, ends it: the user of the machine says so in Event.Passes. The child of a singleton that has
// failed too often gives the lock to another node. The actor of an activation exists before it has
// the lock, and its messages wait. So it has to end before the request is given up.
//
// # Pauses
//
// After a lost lease the next campaign begins at once, because the lock would stay free while
// nobody else wants it. It pauses where campaign and term were over within 100 ms. After any other
// term, and a campaign that has failed, it pauses. The pauses grow while no campaign with its term
// takes longer than the longest pause, and begin anew after one that does. After too many failures
// the pause is long, so that another node can win. [Clocked] has the lengths.
//
// Programs need none of this, and no version promises that it stays as it is. It is not internal,
// because package locks is not below package actors.
package term
