//go:build !linux

package rig

import "syscall"

// dieWithParent has no counterpart here: a test binary that is killed leaves
// its servers behind.
func dieWithParent() *syscall.SysProcAttr { return nil }
