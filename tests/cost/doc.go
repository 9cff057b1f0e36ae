// Command cost measures what a thousand clients cost their servers, on real servers that it starts.
//
//	go run ./tests/cost                                       everything, with 1 000 clients
//	go run ./tests/cost -scenes outage -lengths 0.9,0.95,1.0  some of it
//	go run ./tests/cost -scenes slow -clients 200 -measure 2m  with fewer clients, for longer
//
// It uses nothing of the library that came with the lease rule of issue 35. So the same files
// measure an older version, too, in a work tree of it, with the package tests/rig of today beside
// them.
//
// Clients reach each server through a relay, which counts every frame by its kind, delays what
// passes, and has outages: it resets all connections and refuses new ones. All clients live in one
// process and share an actor system.
//
// # Scenes
//
//	outage   all clients lose all servers at the same moment, for a part of the session timeout T.
//	         First clients each of which holds a lock of its own, then idle ones. A holder that has
//	         lost its lease locks again. An idle client does nothing; when all are connected, each
//	         takes a lock once.
//	leader   the leader of three servers is killed while all clients are idle. When no client has
//	         connected for T, each takes a lock once.
//	slow     a round trip takes a part of T, and ten clients contend for each lock
//	syncs    idle clients at T = 10 s, without a relay: the processor time of the server and of this
//	         process
//
// # Columns
//
//	ended      clients whose session is another one than before the outage
//	known      of these, the sessions that the server had not ended when the outage was over. It may
//	           have ended some of them before their clients were connected
//	refused    connect requests for a session that the server had ended
//	closed     sessions that were alive and that their clients closed
//	dials      attempts to connect, during the outage and after it
//	connects   connect requests that a server was sent
//	begun      of these, how many began a session
//	requests   frames to the server from the beginning of the outage until all clients were back, connect
//	           requests too. Behind it the kinds of those that are not pings
//	back       from the end of the outage until all were back: holders with a lease that was renewed
//	           or granted after the outage, idle clients with a connection
//	locked     from the first to the last of the locks that idle clients take afterwards
//	usual      frames a second in the T before
//
// Raw figures depend on the machine: compare runs of the same one, one after the other.
package main
