// Package singleton decides for an actor that exists once in a cluster. It says when the actor
// campaigns for its lock, when the user's actor (the child) runs, and when the lock is given back.
// It is pure: no clock, timer, goroutine or actor. Package shell is the actor around it.
//
//	              PauseOver           Held, valid            Asked, Stop, Close, too many failures
//	paused ────────────────▶ campaigning ────────▶ active ────────────────────────▶ stopping
//	  ▲ ▲                        │                   │                              │     │
//	  │ └────────────────────────┘                   │ Gone, LockEnded              │     │ ChildEnded
//	  │        LockEnded                             ▼            Gone, LockEnded   │     ▼
//	  ├──────────────────────────────────────────── lost ◀──────────────────────────┘  releasing
//	  │                 ChildEnded                                                         │
//	  └────────────────────────────────────────────────────────────────────────────────────┘
//	                                      LockEnded
//
// Each phase ends in ended instead where the singleton is to end.
//
// # What it keeps true
//
//   - A child is spawned only when the lock is held with a valid lease and no other child runs.
//   - The lock is given back only when no child runs. A lock that is lost was not given back; the
//     child's context has ended by then.
//   - A new campaign begins only when no child runs, and the lock of the one before is known to be
//     gone.
//
// TestEveryOrder checks these in every order of events.
package singleton
