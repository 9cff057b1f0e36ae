// Command zklock runs commands under a lock that machines share, and shows who holds which lock and who waits. It is
// flock for a ZooKeeper ensemble.
//
//	go install github.com/turnstile-locks/turnstile/examples/zklock@latest
//	export ZOOKEEPER_SERVERS=zk1:2181,zk2:2181,zk3:2181
//
//	zklock run /backup -- pg_dump -f /srv/dump orders   # one machine at a time
//	zklock queue /backup                                # who holds it, and who waits
//	zklock revoke /backup                               # ask for it back
//
// # Commands
//
//	run [--shared|--permits N] [--wait 30s|-n|-w S] [--label TEXT] PATH -- COMMAND…
//	                        take the lock, run the command, give the lock back
//	run --at-most-every 55m PATH -- COMMAND…
//	                        the same, unless somebody has run it within this time
//	run --for 2026-12-24T02:00Z PATH -- COMMAND…
//	                        the same, once for this instant of a schedule
//	hold PATH               take the lock, and hold it until a signal comes or the input ends; --json
//	permits PATH [N]        print or set how many may hold a semaphore together
//	queue PATH              who holds a lock and who waits; --watch, --json
//	tree ROOT               the locks below a path; --watch, --json, --long
//	trace PATH              who comes, gets the lock and goes, as it happens; --json
//	graph ROOT              who waits for whom, deadlocks and possible ones marked; --dot, --json
//	revoke PATH             ask the holders to give the lock back
//	break PATH CONTENDER    take a contender out of the queue by force; asks first, --yes
//	doctor                  check everything, and say what to do where it fails; --json
//	completion SHELL        completion for bash, zsh, fish and powershell
//	man                     the manual page, made of the same text as the help
//
// "zklock help COMMAND" tells more of each, with examples.
//
// # Run
//
// The command runs when the lock is held, and has the lock until it ends. It has zklock's standard
// input, output and error, and the terminal: editors and shells work. Its environment has
//
//	ZKLOCK_PATH     the lock path
//	ZKLOCK_TOKEN    the fencing token: a decimal number that grows from grant to grant of the path. Hand it to the
//	                resource that the command writes to, which must refuse smaller numbers than it has seen.
//	ZKLOCK_NODE     the name of the contender's node
//	ZKLOCK_HELD     the nodes of this zklock and of those that it runs under, a line for each
//
// A zklock that is to take a lock which one around it holds would wait for itself; it is refused.
//
// SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 and SIGWINCH are passed on to the command and
// all processes of its process group. Before the lock is held, the first four end the waiting. When
// the command is stopped at the terminal (Ctrl-Z), zklock stops too. If the lease runs out
// meanwhile, the lock is lost, and the command is ended when the job goes on. A zklock that
// somebody stops by itself (kill -STOP) cannot look after its command: that runs on, also when the
// lease is over, until zklock goes on.
//
// Windows has no process groups of this kind, and run cannot do all of this there. The command is
// ended without a warning, what it has started is not ended with it, and neither is ended when
// zklock is killed. run says so each time, and so does its help.
//
// The lock lasts as long as the command's own process does: what that leaves running in the background is not waited
// for.
//
// # Jobs of several machines
//
// With --at-most-every a command that is in the crontab of several machines is run by one of them:
// the one that comes first when the time is over. The time is counted from the beginning of the
// last run that ended with status 0, by the servers' clock, so that the machines' clocks do not
// matter. crontabs are late by a second now and then: let the time be a little shorter than the
// time between two runs. A run that ended with another status, or lost the lock, does not count:
// the next to come runs it again. The command is not run where it is not due, or somebody runs it
// now. zklock then says on standard error who ran it and when, and its exit status is 75. With
// --wait it waits for that run, and runs the command if that run fails.
//
// With --for the command is run once for each instant of a schedule, which all machines name alike: by
// the first to come, however fast it is. It is not run again for that instant, also when it failed or
// was killed, unless --retry-after says so. --start-within bounds how late it may begin. Where nobody
// runs it, the exit status is 81: because a newer instant was run, it is too late, or an older run is
// still going.
//
// Who ran last is in the node "ran" below PATH; "clock" beside it is written to learn the servers' time. Both stay:
// delete PATH and what is below it when the job is no more.
//
// How long to wait for the lock is told by --wait with a unit, or as flock(1) has it: -n (--nonblock) does not wait, -w
// (--timeout) waits so many seconds. The exit status of a lock that was not acquired is 75, not flock's 1.
//
// # Hold
//
// hold is for scripts that do several things under one lock, and for people who keep others out by
// hand. It prints "holds PATH, token N" when the lock is held. It gives the lock back after SIGINT,
// SIGTERM, SIGHUP or SIGQUIT. It also does when its standard input ends, where that is a pipe or a
// socket. A terminal, a file and /dev/null say nothing of whether anybody is there, and are not
// read. Nothing stops what goes on under the lock when it is lost: hold says so, and ends with 79.
//
// # Possible deadlocks
//
// graph and doctor name contenders that wait for each other in a circle, as far as their nodes say
// who is blocked. They name possible deadlocks too, which are circles of processes that last for
// more than a second. In such a circle a process waits for its own lock, or two wait for each
// other's. That is a deadlock when, in each process, the holder waits for the waiter, as when a
// program locks its own lock again, without the context of its lease. With several
// workers in a process it need not be one; so the exit status of graph is 0 then, and doctor warns.
//
// # When the lock is lost
//
// The lock is lost when the servers have not been heard of for some 0.4 session timeouts, when the
// session has expired, or when somebody broke the lock. It is given back when somebody asks for it
// (zklock revoke), unless --keep says to go on, or when --max-hold is over. In all these cases the command and its process group get
// SIGTERM, and SIGKILL if they are still there after --grace (5 s). Nothing of the process group
// outlives the grace period. On Linux that holds also for processes that it has started in other
// process groups of its session, as shells with job control do. Processes that begin a session of
// their own (setsid, daemons) are not reached.
//
// After a loss of the connection nobody else can have the lock before the lease is over. The
// command is told when it is over, and so may run beside the next holder's for as long as the grace
// period. With --early it is told a grace period before, so it is gone when the lease is over. That
// costs runs that would have survived: the connection may come back in the last moment. It takes a
// grace of at most a tenth of the session timeout, and servers that grant that timeout.
//
// When zklock itself is killed, also with SIGKILL, the command's process group is killed at once. A
// small process does that, which zklock starts for this purpose (zklock guard), and on Linux the
// kernel (PR_SET_PDEATHSIG). The lock is free when the session has timed out.
//
// # Exit status
//
// It is the command's, as a shell tells it: 128 + n where signal n ended it, 126 where it cannot be
// run, 127 where it does not exist. README.md has zklock's own statuses.
//
// # Servers and credentials
//
//	--zk                 servers and chroot, zk1:2181,zk2:2181/app, or ZOOKEEPER_SERVERS
//	--auth               a credential, digest:user:password, or @FILE, or ZKLOCK_AUTH, which other users' ps does not show;
//	                     the command of run gets ZKLOCK_AUTH and ZKLOCK_SASL… too, unless --no-credentials is given
//	--tls                TLS; also wherever one of the following is given
//	--tls-ca             a file with the certificates of the authorities to be trusted instead of the system's
//	--tls-cert, --tls-key  files with the client's certificate and key
//	--tls-server-name    the name that the server's certificate has to have
//	                     The files are read at each handshake: those that are replaced are used from the next on.
//	--acl, --parent-acl  entries of the ACLs of the nodes that are made, and of lock paths and what is above them:
//	                     SCHEME:ID:PERMISSIONS, such as auth::cdrwa or world:anyone:r
//	--session-timeout    the session timeout that is asked for: a lock whose holder's machine is gone is free after it
//	--connect-timeout    how long to try to connect
package main

import "os"

func main() { os.Exit(execute(os.Args[1:])) }
