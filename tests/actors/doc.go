// Package actors shows what only lock actors have: what their parents, observers and recorders are
// told, owners that end, and lock actors that are stopped from outside. It also has what becomes of
// lock paths, and go-zookeeper's Lock beside ours. What is the same by every face is in package
// faces beside this one.
//
// Each test spawns its lock actors on a stage, on an embedded server, a real one and an ensemble of
// three.
package actors
