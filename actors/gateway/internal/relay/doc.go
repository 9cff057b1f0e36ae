// Package relay decides what the two ends of a lock over a gateway do: the gateway, which has a
// ZooKeeper session, and the requester on another node, which has none. It is pure: no connection,
// clock, goroutine or actor. Package gateway is the shell of both ends.
//
// # The rule of time
//
// The gateway's own lease of a lock ends at D, by its clock, unless its session extends it. A reply
// to the requester names the newest sending n that the gateway has received, and for how long the
// lease lasts, counted from when it received n:
//
//	lasts = D − received(n)                              by the gateway's clock
//	the requester's lease ends at sent(n) + lasts        by the requester's clock
//
// A sending is sent before it is received, so the requester's lease ends first, however long the
// reply takes. The two clocks are never compared. A hundredth is taken off lasts, which covers
// clocks of which one goes up to a hundredth faster than the other. Reply.Number names n, so a
// reply that is late, lost or doubled is as good as any: the greatest sent(n) + lasts counts.
//
// The gateway notes D as promised. It promises nothing to a requester that has been silent for the
// patience of the gateway (a session timeout), though events are still sent to it. It gives a lock
// back that the requester has not given back itself only when all that it has promised has run out:
//
//   - a requester is silent for the patience of the gateway, and nothing is promised any more;
//   - the grace period of a revoked lock is over, and nothing is promised any more;
//   - the gateway closes: it promises nothing more, and its session ends only when nothing is
//     promised any more;
//   - the gateway's session is given up because a node may not be deleted: it is left to expire,
//     which is later than all that was promised.
//
// Some ends cannot be waited for, here as under a local holder. An operator deletes the node. A
// lock actor or a session actor is stopped from outside. Servers shorten the session's timeout
// right before the gateway dies. These end a lock before its promise does. Fencing tokens are for
// that.
//
// # What may happen to messages
//
// Any may be lost, doubled, delayed, or overtaken. A request has an id. Each sending of the
// requester repeats these until a reply shows that they have arrived:
//
//   - the whole request, until it is accepted;
//   - that the lock be revoked, until the sending is answered;
//   - what else the owner of a hold asks for (see Shared holds), until that is answered;
//   - that the request be given up or the lock given back, until the end.
//
// Events of the gateway's lock actor are numbered. Each sending says which of them have arrived,
// and a reply has all that come after. The end is kept until the requester says that it knows, or
// is silent.
//
// Each gateway has a number of its own, which a request carries once it is accepted. So a gateway
// that is started again is not taken for the one before, whose promises and events it does not
// have.
//
// Sendings from before that may have come to other gateways, too, where something forwards them. So
// once a request is accepted, an answer that it is not known, or not taken, counts only if it
// answers a sending that names the gateway.
//
// The contender that a request waits for is not an event, because only the newest one matters. It
// is numbered, and each reply to a waiter has the newest. The requester drops older ones, and tells
// its listener once all events before it have been taken in. One of these may say that the request
// began anew, behind another contender. While no server answers the gateway, it names no contender:
// the last one may be gone.
//
// The requester takes in the event that the lock is held only together with a promise that has not
// run out. Otherwise it sends, and the reply has a newer one. No chain of replies and sendings runs
// at the speed of the network. After an attempt that has just begun, or a sending that is still
// young, the next goes only when the timer says so.
//
// A copy of a request may arrive after its requester has ended, at a gateway that does not know so:
// the farewell was lost, or went elsewhere. The gateway begins the request anew. Its replies find
// no actor at the requester's node, and the node answers that the request is over. So the lock is
// held for nobody only until that answer, and not for the patience of the gateway. An id is never
// used again, so that is right however late a copy comes.
//
// Text that is not UTF-8 cannot be sent. A request with such text is refused before anything is
// sent; in details that are only told, replacement marks stand in for the bytes.
//
// # Shared holds
//
// The owner of a hold may have others hold in its place, with the tokens of messages.Held.Places: the
// calls of one client share a hold so (package turns). It does so without asking anybody. What bounds
// each of these grants is the requester's lease, by the rule of time. T is the gateway's session
// timeout.
//
// An operator may delete the node while the lease runs. The gateway's lock actor hears of it, and Lost
// comes with a reply: at once, or with the reply to the next sending where that message is lost. A holder
// sends at least every T/6, as often as the gateway's session asks the servers. After two sendings
// without an answer the owner is told Suspended, and grants nothing. So while it may grant, a reply to a
// sending of the last T/3 was taken in, and all events that the gateway had told before that reply.
//
// A hold that nobody had for T/6, which is no less than the time between two sendings, is checked before
// its next grant: Check, through the gateway, a transaction at the servers, Checked. A shorter rest is a
// pause of a busy holder. If each grant waited for a reply that was sent after the grant before, it would
// cost a round trip, and a holder without a pause would hear of the end no earlier.
//
// What the two notices prove:
//
//   - Watched: the gateway's lock actor watches the node. It is void with Suspended of that lock actor,
//     which tells it anew. A silence between requester and gateway does not touch the watch. So it is told
//     again with Resumed, as it was before.
//   - Checked: a transaction that was sent after Check has found the node.
//
// messages.WatchContention and Check are asks. Each has a number. The gateway passes each on once, and
// only where its lock actor holds, and names the newest with the answer. Suspended makes asks void,
// whether the gateway's connection is down or the gateway is not heard: an answer to one from before does
// not count, and the owner asks anew. Where two checks come to a lock actor one right after the other, the
// answer to the first may count for the second: it is older by less than a transaction takes.
//
// A silence ends with a reply to a sending of the last T/3, of which no event is missing: an earlier one
// does not show whether the gateway's lock actor is suspended by now. What that tells meanwhile of its
// connection is noted, and told then.
//
// # Limits
//
// A gateway has no more requests at a time than its limits allow. It refuses those above as full,
// which may pass: the requester goes to the next gateway, and ends as Failed with
// messages.ReasonGatewayFull when each has said so. The ids of requests that are over are kept for
// two to four patiences, so that a delayed message does not begin one again. Where there is no room
// for an id, nothing new is accepted for two patiences. A requester that sends, and takes no events
// in, is taken for silent.
//
// # Silence
//
// A requester that hears nothing says so as a local lock actor does when its connection is down: it
// is recovering, and a holder's owner is told Suspended. A holder is Lost when its promise runs
// out. A waiter goes to the next gateway, if several are named, with a new id (Requester.again). The gateway that it
// leaves gives the old request up, because it hears of it no more.
//
// Until then the old request may have a node, which is in the way of the new one. A refusal that
// this explains does not count: the queue seems to be full. The
// request tries again until the old one must be gone.
//
// A requester that wants to end and hears nothing ends as Failed with messages.ReasonUnreachable.
// The owner is told the same reason when the gateway is closed and there is no other one.
// messages.ReasonSessionClosed says that the requester's own side is closed, after which nothing is
// to be tried again.
//
// # Files
//
// The files are layers. Each uses those before it in this list, and none after it (TestLayers):
//
//	data        message
//	requester   attempt, requester; send, suspend, events, inputs
//	gateway     entry, table
package relay
