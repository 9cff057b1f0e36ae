// Package board keeps what has been seen of locks, so that a page can show it. It keeps who holds
// and since when, who waits, what has changed, and how fast each lock changes hands. It is told of
// readings, one after the other. It never asks for any, and knows no server, clock or goroutine of
// its own.
//
// Everything it keeps is bounded: what has been seen of one lock, how many locks are followed, and what of all that a
// view shows.
package board
