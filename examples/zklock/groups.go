package main

// withoutGroups is what run cannot do where there are no process groups as POSIX has them. Its help says it there.
const withoutGroups = `

On this system run cannot do all of that. When the lock is lost, or somebody
asks for it, the command's own process is ended at once and for good: it is not
told before, and --grace is only the margin of --early. What the command has
started is not ended with it, and may run beside the next holder's. When zklock
itself is killed, the command runs on, and the lock is free when the session has
timed out. No signals are passed on; an interrupt of the console reaches both.
Let what the command writes to check the fencing token.`

// shortOfGroups is the same in a sentence, which run says each time.
const shortOfGroups = "on this system the command is ended without a warning, what it has started is not ended " +
	"with it, and neither is ended when zklock is killed (zklock help run)"
