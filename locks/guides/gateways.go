// # A session on each node, or a gateway
//
// A client of locks.Open has a ZooKeeper session of its own. Package actors/gateway brings locks to
// nodes without one, over protoactor's remote: gateway.Open gives a client that asks an actor on
// another node, the gateway, which has a session.
//
//	                              a session on each node          a gateway
//	costs the ensemble            a connection and a heartbeat    those of the gateways
//	                              every sixth of T, for each
//	a grant takes                 one round trip to a server      that, and one to the gateway
//	many workers of one lock      WithCohort, in each process     WithCohort, across all nodes
//	the node is cut from the      its locks end in time           nothing
//	ensemble
//	the node is cut from the      nothing                         its locks end in time; what waits
//	gateway                                                       goes on at another gateway
//	the gateway is cut from the   nothing                         all locks that it holds for others
//	ensemble, or dies                                             end in time
//	the node dies                 free after T                    free after about T
//
// T is the session timeout. Use a session on each node where nodes have locks all the time, or
// where a lock must not depend on a further process. Use gateways, two or more, where there are
// hundreds of nodes with few locks each, or where nodes may not reach the ensemble.
//
// In each case the lease is a promise with an end, by the clock of the node that relies on it:
// Lease.Valid, Lease.Context and fencing tokens work alike.
//
//	at := gateway.At(actor.NewPID("10.0.0.1:8090", "locks"), actor.NewPID("10.0.0.2:8090", "locks"))
//	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
//	defer cancel()
//	client, err := gateway.Open(opening, system, at)
//
// Each node has an actor system with a remote, the gateways' and the askers' alike. A program
// writes this for it, once:
//
//	system := actor.NewActorSystem()
//	r := remote.NewRemote(system, remote.Configure("10.0.0.7", 8090, // as the other nodes reach it
//		gateway.WithRecovery(slog.Default()))) // last: it bounds what other nodes can do to this one
//	r.Start()
//	defer r.Shutdown(true) // after client.Close
//
//	gateway.Spawn(system, with.Session(), "locks") // only where there is a session
//
// Both sides dial, so that the gateway must be able to reach the asker, too. Behind an address
// translation, or with port 0, name the outer address: remote.WithAdvertisedHost.
//
// gateway.WithRecovery keeps a node up whatever reaches its remote, and its memory bounded: it answers
// nodes that are connected to it, up to 16 384, and few others, with queues that begin small. Sessions,
// locks and singletons take no commands of other nodes. But the remote has no passwords: whoever
// reaches the port can ask for locks and break them, stop the gateway, and send to the program's own
// actors. Keep it in a network of its own, or give it TLS with certificates on both sides:
//
//	secure := credentials.NewTLS(&tls.Config{
//		Certificates: []tls.Certificate{certificate}, // shown to both, as a server and as a client
//		RootCAs:      authorities,
//		ClientAuth:   tls.RequireAndVerifyClientCert,
//		ClientCAs:    authorities,
//		MinVersion:   tls.VersionTLS12,
//	})
//	remote.Configure(host, port, remote.WithServerOptions(grpc.Creds(secure)),
//		remote.WithDialOptions(grpc.WithTransportCredentials(secure)), gateway.WithRecovery(log))
//
// actors/gateway/example_tls_test.go runs these lines, whole, on two nodes.
//
// A client uses the gateway that has accepted its newest request, and goes to the next when that
// gateway does not answer, closes, or is full. Clients that name them in the same order use the same
// one, which makes the most of cohorts; those that name them in different orders share the load. A
// lease's second request for its lock (WithReentry, RLock under a writer) stays at the gateway by
// which the lease is held. gateway.WithMaxRequests bounds what a gateway takes on: above it Lock
// fails with an error that may pass (MayPass).
//
// These need a session: Client.Locks, Client.Missing, Client.Deadlocks, Client.Ready, Group.Watch,
// Election.Observe, Lease.Txn, Lease.Get. A session with a session file cannot have a gateway. A Lock
// that is given up says whom it waited for, as with a session: Error.Behind. The guide for services
// has what an HTTP handler answers by it.
//
// # In a protoactor cluster
//
// Package actors/gateway/grain has a cluster kind, so that nobody names gateways: each lock path
// has a grain, on a member with a session, that forwards to the gateway there. grain.Kind takes the
// options of a gateway.
//
//	cluster.WithKinds(grain.Kind(session))                          // on members with a session
//	client, err := gateway.Open(opening, system, grain.At(cluster)) // on any node
//
// While members disagree about who is a member, a path may have two grains. That does no harm:
// their gateways queue in ZooKeeper, which decides. Use protoactor's zk cluster provider, and
// members and locks depend on one ensemble.
//
// # A grain that is served once
//
// For the same reason a grain of your own may be active twice, and both are served. Package
// actors/activation puts a lock before its messages:
//
//	props := actor.PropsFromProducer(newAccount, activation.Single(session, grain.Path("/grains")))
//	cluster.WithKinds(cluster.NewKind("account", props))
//
// The grain is started, and served, once it holds the lock of its identity; earlier messages
// are kept up to a bound. It is stopped when the lock is lost, and no message is served once the lease
// has run out. activation.LeaseOf gives the fencing token and a context. The price is a lock for
// each grain that is active: a node in ZooKeeper, and a round trip or two before its first message.
package guides
