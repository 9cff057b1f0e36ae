// Package wire has the messages between nodes: between a gateway and its requesters (package
// gateway), and between a lock actor and owners or observers on other nodes (actors.WithRemote).
// Both nodes link it.
//
// The messages are declared in wire.proto, because protoactor's remote sends nothing but protobuf.
// Package messages stays plain data and links no gRPC; this package converts, by the names of messages and fields.
//
// # Actors on other nodes
//
// [Pack] converts a message of package messages, so that it can be sent to another node. It arrives
// there as the message itself, from the sender that it had. The [Packed] that brought it follows,
// and can be ignored.
//
//	props := actors.NewLock(session, want, actors.WithRemote(wire.Pack), actors.WithOwner(owner))
//	ctx.Send(lock, wire.Pack(&messages.Release{}))  // on the owner's node
//
// Points in time do not cross: Held.Until, Suspended.Until, Resumed.Until, RevokeRequested.Deadline
// and Transition.At are zero on another node. messages.WatchContention, Check and Observe are not
// packed: an owner that shares a hold runs on the node of its lock actor, which may be a gateway's
// requester. A lease that can be relied on elsewhere is a gateway's.
//
// # Versions
//
// A request with a field that the gateway does not know is refused with [Unknown]'s words, because
// the field may change the meaning of the request. A message of a type that a node does not link makes
// protoactor's remote panic there: gateway.WithRecovery contains that.
package wire

//go:generate go run ./generate wire.proto wire.pb.go

// Version is the version of the protocol. Another one is refused.
const Version = 1
