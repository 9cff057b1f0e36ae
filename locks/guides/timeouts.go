// # Choosing a session timeout
//
// One number decides two things that pull in opposite directions. After a holder has died, it
// decides how soon the lock is free. While a holder lives, it decides how long an outage the lock
// survives. WithSessionTimeout asks for it, 10 s when it is not given.
//
//	timeout   heartbeat every   an outage of this length    the lease is over        a crash frees the lock
//	T         T/6               is survived                 at the latest after      after T, and up to a tick
//	 4 s      0.7 s             0.8 s                       1.6 s                    4 s
//	10 s      1.7 s             2 s                         4 s                      10 s
//	30 s      5 s               6 s                         12 s                     30 s
//	60 s      10 s              12 s                        24 s                     60 s
//
// Of a lock that has been held for a while the lease lasts 0.4 T from the sending of the newest
// heartbeat. That heartbeat is up to T/6 old when the outage begins, so at worst 0.4 T − T/6 = 0.23
// T is left. (Right after a connection was made it is longer, up to 0.9 T. The package doc of
// zkconn derives both.)
//
// Reconnecting takes part of that. While a lock is held, pauses between attempts are at most 0.015
// T. Then the session has to be renewed and a transaction committed, which is a few round trips. So
// plan with 0.2 T. An outage longer than the lease costs the session: the lock is lost, and waiters
// then queue anew, at the tail. Between the two it depends on the moment.
//
// An outage here is one in which connections are reset and refused, as when a server is restarted
// or a network device is replaced. Where packets vanish without a word, TCP sends them again at
// intervals that double. It may take as long again as the outage until it finds out that they pass.
// Count such an outage twice.
//
// Measured, with a session for each lock and outages at random moments (go run ./tests/outages), on
// a machine that did little else. There were 200 outages or more each of 0.05, 0.10, 0.15 and 0.20
// T, with T = 2 s, 4 s and 10 s, with one server and with three. None lost a lease. The lease was
// renewed within 0.02 T of the end of the outage.
//
// Long outages lose some on a busy machine, or where a server keeps writes of other sessions
// waiting for more than 0.01 T. There T = 4 s lost 1 of 200 of 0.20 T, and T = 2 s 27 and 36 of 200
// of 0.15 and 0.20 T.
//
// # How to choose
//
//  1. Find the longest outage that is ordinary: a change of leader, a restart of the server that
//     the client is connected to, a pause of the client's machine. The logs of your ensemble tell
//     how long a change of leader takes: seconds, not milliseconds, where a leader's machine dies.
//     Divide the longest by 0.2. That is the least T with which ordinary days lose no locks.
//  2. Find out how long the work may stand still when a holder dies. That is the greatest T.
//  3. Where the first is greater than the second: a session file takes the crash out of it (below),
//     and WithServerTick makes leases longer (below). If that does not do, one of the two wishes
//     must give way. Be careful with which. A lock that is lost too easily costs more at three in
//     the morning than one that is free ten seconds later.
//
// zklock doctor says what the servers grant, how long a transaction takes, and what the lease has
// to spare.
//
// # What the servers make of it
//
// They grant what lies between minSessionTimeout and maxSessionTimeout, 2 and 20 ticks unless told
// otherwise: with the usual tick of 2 s that is from 4 s to 40 s. The lease goes by the shortest
// timeout that was granted to the session: all servers must allow the same. Where they do not, a
// session that moves to one that grants less has a shorter lease at once, and for good. Sessions
// expire at ticks, so a crash frees the lock up to a tick later than T. The 0.4 is derived for a
// tick of at most T/2, which servers ensure unless minSessionTimeout is set below two ticks: do not
// do that. The tick that counts is the leader's, so tickTime must be the same on all of them.
//
// Where the servers' tick is known to be short, say so with WithServerTick. With a tick of 200 ms
// and T of 10 s a lease lasts 0.56 T from the heartbeat, and outages of 3.5 s are survived instead
// of 2 s. Never name a tick that is shorter than that of any server.
//
// Round trips of a transaction, fsync included, must take less than T/24 most of the time: 0.4 s
// where T is 10 s. Where they take longer, the lease is renewed by older evidence and is shorter;
// above T/15 locks are lost, or granted late, on a network without a fault. WithServerTick helps
// there too.
//
// # A crash without the wait
//
// WithSessionFile keeps the session's id and password in a file of the user's. A process that is
// started again on the same host closes its predecessor's session first. So its predecessor's locks
// are free after a few round trips, whatever T is. Two live processes never close each other's
// session: zkconn/sessionfile says how that is known, and tests/restarts/session_file_restart_test.go and
// tests/restarts/session_file_process_test.go show it. With it, T may be as long as outages demand. It does
// nothing for a machine that does not come back.
//
// The retained node of a lock WithSticky goes with its session, like one that is held. After a
// crash others wait for it until T is over, although nobody held it, and however short its time was
// to be. A session file is good for that too.
//
// # What else loses a lock
//
// These lose a lock, too:
//
//   - a client that is too busy to get a transaction through for 0.4 T;
//   - a laptop that sleeps: the time counts. On systems other than Linux no clock tells; there a
//     wall clock that jumps forward counts as sleep;
//   - a firewall that forgets idle connections. Heartbeats keep it awake while anything is held or
//     waited for, and pings otherwise;
//   - a container whose processor is throttled to nothing.
//
// They all look the same: ErrLost, with the reason in the error. A program that uses Lease.Context
// loses the work, and not the data.
package guides
