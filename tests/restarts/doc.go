// Package restarts shows processes and servers that come back. A session file closes the session of a predecessor that was
// killed, and a holder that is restarted takes its lock back. Servers come back wiped, restored from a backup, or with
// other sessions, and are replaced by others.
package restarts
