package main

import "syscall"

// dieWithParent has the kernel kill a client when the controller is gone, however it ended.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
