// Package services shows what the abilities for services come to under faults: each of them under each fault, with the
// exact outcome, on an embedded server and on real ones.
//
// The cells are data: see cells_test.go for the abilities that hold a lock, and group_test.go for
// membership. A cell says what must come out in a sentence, and then exactly. It says what the
// subject of the fault is told, in order. And it says whether a waiter in another session holds
// before the subject was asked to end. Every cell checks, too, that tokens grow from grant to
// grant, and that no node is left.
//
// Cells that need no process run in virtual time against an embedded server (virtual_test.go), and in real time
// against a standalone server, through a proxy (real_test.go). Cuts and lost replies run against an ensemble of three
// as well, where the client goes on at another member. Processes that are stopped or killed are children of the
// test's (process_test.go), against an embedded and a standalone server.
//
// TestEachAbilityMeetsEachFault is the table of all: a combination has its cell here, or names the tests elsewhere that
// show it, which must exist, or says why it makes no sense.
package services
