// Package refusals shows what servers and Turnstile refuse, and how errors say it. Its subjects are bad paths and options,
// each error code of a server, servers that hang up, quotas, requests that are too large, and bounds on the nodes of a
// session. What is refused leaves nothing behind.
package refusals
