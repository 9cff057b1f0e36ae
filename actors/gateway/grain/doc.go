// Package grain brings locks to the members and clients of a protoactor cluster. There is a grain
// for each lock path, on a member with a ZooKeeper session. It forwards to the gateway there.
//
//	kind := grain.Kind(session)          // on members with a session, for cluster.WithKinds
//
//	at := grain.At(c)                    // on any node of the cluster, once it has started
//	ctx.Spawn(gateway.NewLock(at, messages.Acquire{Path: "/job"}))
//	client, err := gateway.Open(opening, c.ActorSystem, at) // give opening a deadline
//
// Nobody names gateways: requests for one path meet at one member, so that its batches
// serve the whole cluster, and paths spread over all members of the kind. When a member is gone,
// requests that wait go on at another. Locks that were held there are lost when their leases run
// out.
//
// # Two activations of one path
//
// do no harm. A cluster promises that an identity has one activation only while all members see the
// same members. But the grain decides nothing and knows nothing: the gateways of both members acquire
// the lock in ZooKeeper, and their contenders queue there. A request stays with the gateway that has
// accepted it, so a grain that moves, or passivates, moves no lock.
//
// # Grains of your own
//
// [Path] gives each identity of a kind a lock path, for activation.Single: a grain then serves messages
// only while it holds the lock of its identity.
//
//	props := actor.PropsFromProducer(newAccount, activation.Single(session, grain.Path("/grains")))
//	kind := cluster.NewKind("account", props)
//
// # What is needed
//
// All members of the kind have sessions with the same servers and chroot. With protoactor's cluster
// provider for ZooKeeper, members and locks use one ensemble: see the example. That provider panics in
// members that start at the same time where no member has ever been: start the first one alone. A session
// is to be closed after its member has left the cluster: until then the cluster sends requests there.
//
// Programs that do not import this package do not link protoactor's cluster.
package grain
