// Package coordinator decides what a session does for its lock requests.
package coordinator
