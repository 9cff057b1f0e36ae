// Command peersuites runs the own tests of other clients, first on real servers of ZooKeeper, then on the
// embedded server, and compares: what passes there passes here.
//
//	go run ./tests/peersuites -suite kazoo,go-zookeeper
//
// The suites are kazoo's, go-zookeeper's, the tests of Curator's locks and leaders, and the
// client's tests of ZooKeeper itself. Package pinned has their versions. They start their servers
// themselves, and stop and start them again. Where servers are to be embedded ones, each starts a
// stand-in in place of a server. This program runs embedded servers for its stand-ins, one for each
// server alone or ensemble.
//
//   - kazoo starts the first java in PATH.
//   - go-zookeeper starts zkServer.sh.
//   - Curator and ZooKeeper start servers inside their process. The classes of theirs that do are replaced
//     by those in the folder java, or changed by them.
//
// A test that fails is run again, up to twice, and passes if it passes then: some of the peers' tests depend
// on speed. The tables in exceptions.go and exceptions_zookeeper.go name what passes on real servers and not
// on embedded ones, with the reason. The exit status is 1 when another test does so. It is 1, too, when a
// row of a table is not true: its test passes on embedded servers, or does not pass on real ones.
package main
