// Command bench compares Turnstile with the locks of other ZooKeeper clients, on a real server that it starts.
//
//	go run ./tests/bench                         Turnstile, go-zookeeper's Lock, and bare requests
//	go run ./tests/bench -peers                  Curator and kazoo, too
//	go run ./tests/bench -ensemble               on three servers instead of one
//	go run ./tests/bench -workload one,pair -rounds 9
//
// # What is printed
//
// A line for each figure, and one for each comparison; what begins with # is a remark.
//
//	<workload> n=<n> <peer> <figure> <unit> (<least>..<most>, <k> rounds)
//	ratio <workload> n=<n> turnstile/<peer> <ratio> (<least>..<most>)
//
// A figure is the median of the rounds. A ratio is above 1 where Turnstile is better, whether more is better or
// less; it is the median of the ratios of each round, because the peers of a round were measured one right after
// the other and so met the same machine. A workload with several figures has several names: one, one-p50, one-p99.
//
// # How it is measured
//
// In every round each peer is measured once, one after the other, each with sessions and lock paths of its own.
// What is counted begins when every worker has held once, and the warm-up time is over. Every grant passes a
// check that nobody else holds: a lock that lets two in has no figure, and the command fails.
//
// The peers are bare, which is a create and a delete without any lock, by go-zookeeper: the floor; zklock, which is
// go-zookeeper's Lock; turnstile, which is package locks; turnstile-actors, which is package actors used without
// the blocking calls; curator, InterProcessMutex of 5.4.0; and kazoo, Lock of 2.8.0. The last two run in
// processes of their own, the others in this one.
//
// # What bounds it
//
// A measurement is given up after -patience, and that peer is not measured again at that size; no round begins
// later than -limit after the first round of its workload and size. Each time a remark says so.
package main
