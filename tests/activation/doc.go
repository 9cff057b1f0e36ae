// Package activation tests package actors/activation on an embedded server, in virtual time where
// nothing of protoactor's remote is needed.
package activation
