package rig

import (
	"io"
	"os"
	"syscall"
)

// setPipeSize is F_SETPIPE_SZ of fcntl(2), which package syscall does not have.
const setPipeSize = 1031

// narrow has a pipe hold one page: at first it holds 64 KiB, the lines of some hundred sessions. A
// pipe that cannot be made narrower is left unchanged.
func narrow(from io.Reader) {
	pipe, ok := from.(interface {
		SyscallConn() (syscall.RawConn, error)
	})
	if !ok {
		return
	}
	if raw, err := pipe.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) {
			_, _, _ = syscall.Syscall(syscall.SYS_FCNTL, fd, setPipeSize, uintptr(os.Getpagesize()))
		})
	}
}
