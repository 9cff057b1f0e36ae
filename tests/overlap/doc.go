//go:build unix

// Command overlap runs two commands under one lock, breaks the first one's side, and says when the
// first command was gone and when the second began.
//
//	go run ./tests/overlap                                 zklock run, on real ZooKeeper servers that it starts
//	go run ./tests/overlap -consul /usr/local/bin/consul   consul lock beside it, with agents that it starts
//	go run ./tests/overlap -scenes silent -trials 10       some of it, more often
//
// Each trial has a lock of its own. The first command runs for a while (-after), and the second
// waits for the lock all that time. Then one of these happens:
//
//	killed       zklock run, or consul lock, is ended by SIGKILL. Its command is not
//	paused       it and its command are stopped, as with their machine. They go on when the second
//	             command has begun
//	down         what it is connected to is gone: a relay before the server, or its agent.
//	             Connections are reset and refused
//	silent       what it is connected to falls silent, and keeps its connections
//	partitioned  its machine loses its network, and no connection is closed. Its agent goes on. It
//	             is played where -scenes names it: Consul's agent is in a network namespace, which
//	             takes Linux, root and iproute2
//
// For Consul there are a server and two agents: each consul lock has one, as on a machine of its
// own. The agent of the first is ended (down) or stopped (silent). The server then finds out by
// gossip that the agent's node has failed.
//
// # Columns
//
//	gone     from the fault until the first command's process was gone
//	second   from the fault until the second command began
//	both     how long both commands ran at the same time, without the time for which the first was
//	         stopped; 0 where the first was gone first
//
// Times are in seconds. A command that outlives the second's begin by more than -most is ended then,
// and its time is printed with a >.
//
// Scenes go at the same time, each with servers of its own, and the trials of a scene one after the
// other. Most of the time nothing happens, so a machine of two processors is enough.
package main
