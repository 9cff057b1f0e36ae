// Package activation tests package actors/activation on an embedded server, in virtual time.
package activation
