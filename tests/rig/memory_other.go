//go:build !linux

package rig

// MemoryFolder gives "": no folder is known here whose files are in memory.
func MemoryFolder() string { return "" }
