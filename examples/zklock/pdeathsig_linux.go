package main

import "syscall"

// dieWithParent has the kernel kill the command when zklock is gone, however it ended. It is for the command's own
// process; the guard is for what that has started.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
