//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package main

import "syscall"

// signalStrays finds nobody: there is no /proc to look into.
func signalStrays(string, int, int, syscall.Signal) bool { return false }

// dieWithParent leaves it to the guard.
func dieWithParent(*syscall.SysProcAttr) {}
