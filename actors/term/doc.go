// Package term is for work under a lock: when it campaigns, when its work runs and is to end, and
// when the lock is given back. A pure [Machine] decides. [Clocked] has its clock and its pauses.
// For work that is an actor, [Candidacy] makes events of the lock actor's notices and has the
// [Lease], [Closing] has a session that closes wait, and [Last] and [Continues] serve what passes
// no middleware.
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
//     runs. Work whose lock is not held any more has its context ended, and is stopped.
//   - The lock is given back only when no work runs.
//   - A new campaign begins only when no work runs, and the lock of the one before is known to be
//     gone.
//   - Something always follows: no phase waits for what cannot come.
//
// TestEveryOrder tries every order of events, with every policy. The users ask the clock whether a lease
// is valid (Event.Valid) before they call a function or serve a message. A lease ends before
// anything of its loss is told: its context is the lease's own (TestLeaseEndsFirst), and in package
// locks the work's context ends with it. So no effect but StopWork ends a context.
//
// # Who uses it
//
//	policy      user                             terms  the work        ends by itself   revoke request
//	Once        locks.Do, RunOnce, RunOnceFor    one    a function      it ends          is the work's
//	Leader      locks.Election.Run               many   a function      error decides    ends its context
//	Singleton   actors.NewSingleton              many   a child         starts anew      stops it
//	Activation  package activation               one    an actor waits  it ends          drains it
//
// An error of Leader's function that may pass (locks.MayPass) has it campaign again; another, and
// none, ends it (Event.Passes). The child of a singleton that has failed too often gives the lock
// to another node. The actor of an activation exists before it has the lock, and its messages wait.
// So it has to end before the request is given up.
//
// # Pauses
//
// After a lost lease the next campaign begins at once, because the lock would stay free while
// nobody else wants it, unless campaign and term were over within 100 ms. After any other term, and
// a failed campaign, it pauses. Pauses grow while no campaign with its term takes longer than the
// longest pause. After too many failures another node can win in the long pause. [Clocked] has the
// lengths.
//
// Programs need none of this, and it may change in any version. Not internal, because package locks
// is not below package actors.
package term
