// Package refusals shows what servers and Turnstile refuse, and how errors say it: bad paths and options, each error
// code of a server, and requests that are too large. Others are bounds on the nodes of a session, and servers that
// hang up. A refused request leaves nothing behind.
package refusals
