// Package actors shows what lock actors tell whoever spawned them. Its subjects are grants, releases, revoke requests and
// what an operator does. Others are expired sessions, owners that end, lock actors that are stopped, and lock paths.
//
// Each test spawns its lock actors on a stage, on an embedded server, a real one and an ensemble of three.
package actors
