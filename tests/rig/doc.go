// Package rig runs real ZooKeeper servers for tests, and breaks them.
//
// A [Server] is a Java process on loopback that can be killed, paused, resumed and restarted with
// its data. An [Ensemble] is several of them with a leader. A [Partitionable] ensemble can be cut
// apart, and each direction of each link between its members can stall or be slow by itself
// ([OneWay]). A [Proxy] stands between one client and a server. It can stall and delay each way,
// too ([Way]). It understands the frames that pass, so a test can lose exactly the reply that it
// means to lose. [ExpireSession] ends a session behind its client's back. Tests that do a server no
// harm can share one ([Shared]). They and the other processes that tests start ([StartProcess]) end with the process that
// started them, however that ends.
//
//	server := rig.StartStandalone(t)
//	proxy := rig.NewProxy(t, server.Addr())
//	fault := proxy.Expect(rig.Rule{Op: rig.OpCreate, Action: rig.DropReply})
//	// ... a client at proxy.Addr() creates a node ...
//	<-fault.Fired() // the server has the node; the client never heard of it
//
// Servers are of the version that TURNSTILE_ZOOKEEPER names, or else of [DefaultVersion]: one that
// package pinned has, or Debian's 3.8.0, which install.sh beside this file installs. make deps has
// all of them fetched, once. Servers start sooner from an archive of their classes, which package
// archive writes ([Archive]). A test that calls [Require] is skipped where Java or the jars are
// missing, unless TURNSTILE_REQUIRE_SERVERS=1 says that a missing server is a failure.
//
// Servers die with the process that started them, however it ends. Their data lives in temporary
// folders that Stop removes.
package rig
