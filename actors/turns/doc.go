// Package turns decides what the calls of one client share above the queue: which call holds next,
// and with which hold. This page is its specification.
//
// A call is a Lock of a caller. A hold is a lock actor, one contender of the queue at the servers.
// It may serve one call after the other, readers together, and may be kept while nobody asks. Two
// clients of a process are two contenders.
//
//	caller ──Call, GiveBack──▶ ┌───────┐ ──Ask, Release──▶ lock actor ──▶ session
//	       ◀─Grant, Refuse──── │ Turns │ ◀─Held, Lost─────
//	timers ◀─SetTimer───────── └───────┘
//
// [Turns] is a pure value. Its methods are the inputs. Each notes what has happened and then
// settles the queue: it grants what may be granted, asks for missing holds, cancels surplus ones,
// and keeps or gives back what nobody has. [Turns.Take] gives what is to be done, in order.
//
// # What may share
//
// A queue has the calls of one path and name; semaphores and contests have queues of their own. A
// line has the calls that one hold may serve: their Acquire is equal but for Owner, Caller, Try and
// MaxWaiters, and so are their limits. Calls with Alone have a hold each: elections, groups, calls
// with observers.
//
// A hold serves Cohort grants, or one. Readers have a hold together only with a cohort, in which
// they have its token. Permits and contests serve one grant. Only an exclusive hold is kept.
//
// # What a grant needs
//
// A hold goes to the first call of its line, whichever it was asked for; that of a call that tries
// goes to that call, if it can. The lock actor has told Held, and
//
//   - no Suspended without its Resumed; the term of the lease in which it was held is unbroken, and
//     valid by the clock at that moment;
//   - nobody has asked for the lock (Revoke);
//   - no transaction of a call before is under way, or is being fenced;
//   - a grant, a place and time are left;
//   - no call has an exclusive hold of the queue, and none that reads where the call excludes it.
//     So a grant waits for the end of a hold that the servers know and this process does not;
//   - its token is greater than those of this queue before: one that was held behind it has shown
//     that its node is gone;
//   - from the second grant on, Watched: the watch of its own node is set. Events and answers come
//     in order on one connection, so each committed answer shows that no end of the node went
//     unheard. A hold that nobody had for T/6 is checked by a committed transaction first; a
//     shorter rest is a pause of a busy holder. A node that may not be read serves one grant, and
//     is not kept.
//
// T is the session timeout.
//
// # Tokens
//
// The first grant has the token of Held, each further one the next place, up to Held.Places.
// Readers of one hold have its own token. A downgrade has the writer's: its lock actor tells that.
//
// # Time
//
// A hold with a cohort serves for T/20 from its first grant on, whoever queues. Neither time nor
// grants count while a watch for contenders stands unfired; Contended ends that. A watch that was
// lost with the connection is set anew with Resumed, and taken to stand until then.
//
// # When a hold is asked for, kept and given back
//
// The calls of a line that no hold may serve ask for one: the first by priority, then by arrival;
// with a cohort one for each run of calls that one hold may serve. At most Bounds.Waiting holds of
// a queue wait, with cancelled ones that are not gone: the session counts their nodes, and would
// refuse more. When a hold may serve no more, the next is asked for first, behind it; then it is
// given back, once no call has it and no transaction is under way.
//
// Never more holds wait than calls that they may serve. Surplus ones are cancelled from the tail.
// So with a cohort a call whose ctx ends costs nobody a place. Without, its end cancels the hold
// that was asked for it, unless a call behind it has none, and the same owner and caller.
//
// A hold that nobody has is kept for Sticky, if no call of the queue waits; else it is given back.
// A contender, a revoke request, a call that it does not serve, the end of its time or of the
// client gives a kept hold back. At most Bounds.Kept are kept.
//
// Readers that come after a call that excludes them have another line, and so a hold behind that
// call's. Those that came before are let in.
//
// # Within a lease of the same lock
//
// Calls within one another are calls of one owner, and would wait for themselves. So this comes
// before every rule about who waits; only the connection and the lease are asked. The call that
// decides is one that reads for a reader, else one that does not; one that holds, else one that
// waits.
//
//	the call   the one that decides   answer
//	Read       Write, holds           a hold is asked for beside the writer's, for this call only (a downgrade)
//	Read       Write, waits           it waits until that is decided
//	not Read   Read                   ReasonUpgrade
//	any        of another access      ReasonReentry; so without Want.Reentry
//	any        waits                  it waits until that is decided
//	any        holds                  it shares the hold, and its token
//
// # Try and MaxWaiters
//
// A call that tries is refused with ReasonNotAcquired where calls of its own client keep it out.
// Else it has a hold of its own (Output.Try), which no other call takes over, because it may be
// refused; or it waits for one that is held. A kept hold that does not serve it goes first, and so
// do holds that were cancelled: its own would be refused behind those, though nobody holds. It is
// the same for calls with MaxWaiters. Until then none behind it asks, so that it is not overtaken
// for ever by calls that come and give up.
//
// A call with MaxWaiters is judged once, unless it need not wait: at once by the calls inside, and
// where it waits for a hold that is asked for by Waiting of that hold, which counts the contenders
// before the node, and the calls of its line that have none. In the line of a hold that is held
// nobody else is before it. Permits are judged by Waiting: only the servers know how many there
// are.
//
// # Refusals, revokes, losses
//
// The call hears a refusal for which the hold was asked for; the others ask anew. Where something
// is kept, ReasonSessionFull gives the older half of the kept holds back instead, and the hold is
// asked for again after a pause, as is a refused transaction.
//
// ReasonQueueFull says that others of the session, or of its gateway, wait in the queue. A call
// with MaxWaiters hears it, and one that tries hears ReasonNotAcquired; else the hold is asked for
// again after a pause.
//
// Revoke: all calls that have the hold are told, each with its own Grace; a lock actor with
// observers keeps that time itself (messages.Revoked). When it is over the call has ended, and the
// hold is given back with the last, even if a transaction is under way: its check of the node
// refuses it.
//
// Lost: the calls that have the hold are told. Those that wait stay in order, and ask anew.
//
// Transactions (their turn, their number and the version of the node) belong to the hold. One that
// could not be fenced ends it.
//
// When the session ends, the lock actors that wait stay, and queue anew in the order of their
// numbers; those that hold tell Lost.
//
// # What the shell does
//
// Package sharing calls inputs under a mutex, and carries outputs out, in order, outside it. A
// Release may bring the Held of the same queue on the same goroutine.
//
//   - Ask: a lock actor with the Acquire of the call, without Timeout, Grace and MaxWaiters; with Try
//     as the output says. A Shared one names no owner and no caller in its data, so that searches of
//     other processes do not take them as known, and nothing is rewritten when a turn passes. In this
//     process [Turns.Standings] says who waits and who has the turn.
//   - An ID of something that has ended is void, so inputs that cross outputs do no harm. A lock
//     actor that is cancelled as it holds gives back. Each ends with Refused, Lost or Gone.
//   - A call within a lease names the call of that lease. Where that has ended, it names the next
//     one around it, or none.
//
// # Where a change goes
//
// check states the invariants. The stories in testdata show each rule, the walk plays every order
// of inputs over a model of what is below, and mistakes_test.go lists the ways to break each rule,
// with the test that finds it.
//
// The files are layers. Each uses those before it in this list, and none after it (TestLayers):
//
//	data    output, want, state
//	holds   queue, hold, grant
//	rules   bound, owner, room
//	whole   settle
//	face    read, inputs, below
//	tests   check
package turns
