// Package actors tests what only lock actors have: commands and notices, owners that end, and lock
// actors that are stopped from outside. It also tests how lock paths come and go, and
// go-zookeeper's Lock beside ours. Package faces beside this one has what all faces share.
//
// Each test spawns its lock actors on a stage: on an embedded server, and where servers differ on a
// real one and an ensemble of three, too.
package actors
