//go:build !linux

package interop

import "syscall"

// dieWithParent has no counterpart here. A worker still ends when its standard
// input does, which a killed parent closes.
func dieWithParent() *syscall.SysProcAttr { return nil }
