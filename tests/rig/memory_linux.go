package rig

import (
	"os"
	"syscall"
)

// sharedMemory is where Linux keeps files in memory, on most machines.
const sharedMemory = "/dev/shm"

// tmpfs is the type of a file system in memory, of statfs(2).
const tmpfs = 0x01021994

// MemoryFolder gives a folder for [WithFolder] whose files are in memory, so that a server that is measured waits for
// no disk. It is "" where there is none that may be written to.
func MemoryFolder() string {
	var about syscall.Statfs_t
	if err := syscall.Statfs(sharedMemory, &about); err != nil || int64(about.Type) != tmpfs {
		return ""
	}
	probe, err := os.MkdirTemp(sharedMemory, "turnstile-rig-")
	if err != nil {
		return ""
	}
	_ = os.Remove(probe)
	return sharedMemory
}
