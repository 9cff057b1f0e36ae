//go:build !linux

package rig

import "syscall"

// dieWithParent has no counterpart here: a process that is killed leaves its children behind.
func dieWithParent() *syscall.SysProcAttr { return nil }
