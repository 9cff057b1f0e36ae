// Package board keeps the history of locks that a page shows: who holds and since when, who waits,
// the changes, and how fast each lock changes hands. It takes readings, one after the other. It
// never asks for any, and has no server, clock or goroutine.
//
// Everything it keeps is bounded: what has been seen of one lock, how many locks are followed, and what of all that a
// view shows.
package board
