//go:build !linux

package child

import "syscall"

// dieWithParent has no counterpart here: who is killed leaves its children behind.
func dieWithParent() *syscall.SysProcAttr { return nil }
