// Package carrier carries out what a coordinator asks of the servers: each [coordinator.Query] becomes
// the requests of one connection, and what came of them its [coordinator.Answer]. It decides nothing,
// and it has no state.
package carrier

import (
	"github.com/turnstile-locks/turnstile/zkconn"
	"github.com/turnstile-locks/turnstile/zkconn/sessionfile"
)

// Carrier carries out queries on one connection. Its methods block, and are called from any goroutine.
type Carrier struct {
	Conn *zkconn.Conn
	// File knows the sessions of earlier processes; nil without one.
	File *sessionfile.Successor
}
