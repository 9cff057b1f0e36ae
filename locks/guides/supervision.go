// # Supervision of actors
//
// An actor that holds a lock fails like any other, and its supervisor decides what happens to it.
// This guide says what happens to its lock. The code is that of
// locks/guides/example_supervision_test.go, which a test checks.
//
// # The easier ways
//
// Where one lock goes with one actor, let something else hold it. A singleton holds the lock and
// runs the actor as its child. The child's restarts are under one lock, and it has no notices to
// tell apart:
//
//	lock := messages.Acquire{Path: "/singletons/press"}
//	one := root.Spawn(actors.NewSingleton(session, lock, props, actors.WithBuffer(10)))
//	root.Send(one, "page 1")
//
// Each incarnation of the child is told first whose lock it works under:
//
//	case *actors.Activation: // of a singleton: first, in each incarnation
//		p.by = msg
//
// activation.Single does the same for an actor that has an identity, such as a grain. The actor
// serves no message before its lock is held, and none after:
//
//	single := activation.Single(session, activation.At(messages.Acquire{Path: "/presses/7"}))
//	seven := root.Spawn(actor.PropsFromProducer(produce, single))
//
// Both keep the lock over a restart, and give it back when the actor has ended. A singleton that
// fails again and again gives it to another node (actors.WithFailures). The rest of this guide is
// for actors that lock now and then, or more than one thing.
//
// # An actor that locks by itself
//
// It spawns the lock actor as its child, in Started, and so does each incarnation. Two lines make
// it safe under any supervisor. It defers the Release, and it compares the sender of Held with the
// lock actor that it has spawned:
//
//	case *actor.Started: // in each incarnation
//		p.lock = ctx.Spawn(actors.NewLock(p.session, messages.Acquire{Path: "/press"}))
//	case *messages.Held:
//		defer ctx.Send(ctx.Sender(), &messages.Release{}) // also when print panics
//		if ctx.Sender().Equal(p.lock) {                   // else it is of the incarnation before
//			p.print(msg.Token)
//		}
//
// # What each directive does to the lock
//
//	Restart     protoactor stops the children, and with them the lock actor; the session deletes the node.
//	            The new incarnation asks anew, queues behind all waiters, and gets a greater token.
//	Stop        the same, and nobody asks anew.
//	Escalate    what the supervisor's own supervisor decides. If it restarts or stops the supervisor, all
//	            children of it end, and theirs: the lock is given back. Until then it is held.
//	Resume      nothing ends. The actor still holds the lock, and the message that it failed at is gone.
//	            Without the deferred Release it holds until somebody stops it.
//
// A failing actor holds its lock until the supervisor has decided. A supervisor that is busy for
// long holds up the lock's waiters. The lease goes on meanwhile: heartbeats are the session's.
//
// An actor that is stopped from elsewhere gives its lock back in the same way. With Poison it
// serves what is in its mailbox first, under the lock.
//
// # Whose notice it is
//
// Notices are messages, and a mailbox outlives an incarnation. An actor that is busy when it is
// granted a lock, and then panics, leaves a Held in its mailbox. The new incarnation reads it,
// while the lock is given back already and may be somebody else's. So a notice counts only when it
// is of the lock actor that this incarnation has spawned. ctx.Sender() and the notice's Grant.Actor
// name it, by PID: each lock actor has one of its own. The example "restarted" of package actors
// shows such a notice.
//
// The same is true of Lost: one of the incarnation before says nothing about the new lock.
//
// # Lock actors that are nobody's child
//
// A lock actor that is spawned at the root does not end with the actor that uses it. With
// actors.WithOwner it is released when its owner ends. A restart does not end an owner, so there
// the new incarnation must find it: keep its PID outside of the actor, or answer its Held with
// Release.
//
// # What does not go with the lock
//
// Goroutines and ReenterAfter continuations of a failed incarnation run on. Give them a context
// that ends in Restarting and Stopping, and write with the token of their own grant: the store
// refuses an old one. See "Fencing".
package guides
