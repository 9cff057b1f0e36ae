// Command bench compares Turnstile with the locks of other ZooKeeper clients, on a real server that it starts.
//
//	go -C tests/bench run .                         Turnstile, go-zookeeper's Lock, and bare requests
//	go -C tests/bench run . -peers                  Curator and kazoo, too
//	go -C tests/bench run . -ensemble               on three servers instead of one
//	go -C tests/bench run . -workload one,pair -sizes 2,16 -only turnstile,zklock -rounds 9
//	go -C tests/bench run . -quick                  everything once, small and short: that it runs, and no speed
//	go -C tests/bench run . -plot charts            a chart of each workload with several sizes, too
//	go -C tests/bench run . -profile profiles       where Turnstile's time and memory go, and nothing compared
//
// # What is printed
//
// A line for each figure, and one for each comparison; what begins with # is a remark.
//
//	<workload> n=<n> <peer> <figure> <unit> (<least>..<most>, <k> rounds)
//	ratio <workload> n=<n> turnstile/<peer> <ratio> (<least>..<most>)
//
// A figure is the median of the rounds. A ratio is above 1 where Turnstile is better, whether more
// is better or less. It is the median of the ratios of each round, because the peers of a round
// were measured one right after the other and so met the same machine. Turnstile is compared with
// each other peer, the floors too: "ratio one n=128 turnstile/batched 0.47". A workload with
// several figures has several names: one, one-p50, one-p99.
//
// Workloads that count grants say what one takes of the processors, on Linux: <workload>-client-cpu
// and <workload>-server-cpu, in µs a hand-off, cycle or waiter. The client is this process, the
// benchmark's own work included; in processes, it is the competing processes together; of Curator
// and kazoo, theirs.
//
// Packets and processor time are measured from beginning to end, over all that was done: opening
// sessions, the warm-up, and the compilers of a virtual machine that has just begun. Only processes
// and gateways are looked at while they go on.
//
// # The workloads
//
//	uncontended   one worker, one lock: µs a cycle; bare is the create and the delete alone
//	sticky        as uncontended, with locks that stick; and what a Lock from another session takes then, also in
//	              round trips of a write more than where the lock is free
//	many          workers with a lock each in one session: cycles a second
//	one           workers on one lock in one session: hand-offs a second, latency of a hand-off from the call of Unlock
//	              to the return of the next one's Lock, packets a hand-off by the servers' mntr; exists, in one-p50 and
//	              one-p99, is the round trip of an Exists while nothing else runs
//	cohort        as one, with up to 64 grants in a row inside the session; memory is a bare program that hands one node
//	              over in memory as often
//	inside        two levels beside a channel with contexts: workers of one process on a lock that their client shares,
//	              with locks that stick (n=1) or up to 1000 grants in a row, and no other process that wants it; cycles
//	              a second, and allocations a cycle
//	pair          sessions of one worker each that hold for 3 ms: latency and packets of a hand-off; bare is a delete
//	              until another session has the event
//	processes     processes with a session and 8 workers each on one lock: hand-offs a second, and fairness;
//	              turnstile-cohort lets up to 16 grants in a row pass inside a process
//	queue         waiters behind a holder in one session: ms to queue and to drain, packets a waiter
//	memory        requests that wait in a process of its own, after a collection: heap, stacks, goroutines of each;
//	              those of turnstile-cohort wait for one lock, with a node for each 64 of them
//	idle          sessions that do nothing, and sessions that hold a lock each: packets a second of each, and processor
//	              time of the servers, on Linux. It runs only when it is named. The session timeout is ten
//	              times -span, 10 s; turnstile-no-syncs is WithoutIdleSyncs. For 10 000 sessions:
//	              -workload idle -sizes 10000 -rounds 1 -patience 10m, and as many open files for this process and for
//	              a server alone (ulimit -n)
//	gateway       requesters on ten nodes, each a process with a remote on loopback, over one gateway in a process of its
//	              own: grants a second on one lock and on 1 000 (gateway-many), packets to the servers a grant, and heap
//	              and stacks of the gateway for each requester. turnstile-gateway-cohort is with up to 64 grants in a row
//	              over one node; turnstile-sessions has a session for each worker instead, 1 000 at most, and the memory
//	              of the processes with them. It runs only when it is named
//	restart       a process that held is killed, started again, and wants the lock: ms from its start until it holds;
//	              Turnstile keeps its session in a file
//	look-ahead    as pair, and without holding, with and without look-ahead. It runs only when it is named
//
// # How it is measured
//
// In every round each peer is measured once, one after the other, each with sessions and lock paths of its own.
// The count begins when every worker has held once, and the warm-up time is over. Every grant passes a check
// that nobody else holds: a lock that lets two in has no figure, and the command fails.
//
// The peers:
//
//   - bare: a create and a delete without any lock, by go-zookeeper, or what the workload says. It
//     is the floor.
//   - batched: the same in transactions that combine what many workers ask for. The servers and
//     go-zookeeper allow no more to any lock that makes and deletes a node for each holder.
//   - memory: it makes a node, hands it over in memory from one worker of its session to the next
//     for so many grants, and deletes it. It is the floor of cohorts, which share a node.
//   - channel: a lock of one process, a channel and a context for each hold.
//   - zklock: go-zookeeper's Lock.
//   - turnstile: package locks.
//   - turnstile-actors: package actors, used without the blocking calls.
//   - curator: InterProcessMutex, of the version that package pinned names.
//   - kazoo: Lock, likewise.
//
// The last two run in processes of their own, the others in this one.
//
// The servers' data are in memory where a folder in memory is found, and their virtual machines have the heap and the
// compilers of servers that run for long. The first line says so, and when it is not so.
//
// # What bounds it
//
// A measurement is given up after -patience, and that peer is not measured again at that size. A remark
// says so.
package main
