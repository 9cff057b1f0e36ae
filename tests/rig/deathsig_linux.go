package rig

import "syscall"

// dieWithParent has the kernel kill the child when its parent is gone, however the parent ended. "Parent" is the
// thread that forked: see StartProcess.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
