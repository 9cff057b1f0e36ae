//go:build !linux

package main

import "syscall"

// dieWithParent has no counterpart here. A client ends when its connection to the controller does.
func dieWithParent() *syscall.SysProcAttr { return nil }
