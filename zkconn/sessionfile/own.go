//go:build linux || darwin

package sessionfile

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

func openOwn(path string) (*os.File, error) {
	// Nonblocking, so that a pipe in its place cannot make us wait. Go opens every file
	// close-on-exec.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if info, lstatErr := os.Lstat(path); err != nil && lstatErr == nil {
		// The error of opening says little: "too many levels of symbolic links", "is a directory".
		if rule := brokenRule(info.Mode()); rule != "" {
			return nil, refused(path, rule)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("session file: %w", err)
	}
	if err = checkOwn(file, path); err == nil {
		err = lock(file, path)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

func refused(path, rule string) error { return fmt.Errorf("%w: %s: %s", ErrRefused, path, rule) }

func brokenRule(mode os.FileMode) string {
	switch {
	case mode&os.ModeSymlink != 0:
		return "must not be a symbolic link"
	case !mode.IsRegular():
		return "must be a regular file"
	case mode.Perm()&0o077 != 0:
		return fmt.Sprintf("mode %04o: group and others must have no access (chmod 600)", mode.Perm())
	}
	return ""
}

// checkOwn looks at the open file, not at the path.
func checkOwn(file *os.File, path string) error {
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("session file: %w", err)
	}
	if rule := brokenRule(info.Mode()); rule != "" {
		return refused(path, rule)
	}
	var stat unix.Stat_t
	err = control(file, func(fd int) error { return unix.Fstat(fd, &stat) })
	switch {
	case err != nil:
		return fmt.Errorf("session file: %s: %w", path, err)
	case int64(stat.Uid) != int64(os.Geteuid()):
		return refused(path, fmt.Sprintf("owner %d: must be the user that runs, %d", stat.Uid, os.Geteuid()))
	case stat.Nlink != 1:
		return refused(path, fmt.Sprintf("%d names: must have one, no hard links", stat.Nlink))
	}
	return nil
}

func lock(file *os.File, path string) error {
	err := control(file, func(fd int) error {
		for {
			if err := unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB); !errors.Is(err, unix.EINTR) {
				return err
			}
		}
	})
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return fmt.Errorf("%w: %s", ErrInUse, path)
	case err != nil:
		return fmt.Errorf("session file: lock %s: %w", path, err)
	}
	return nil
}

// unlock gives the lock back. Closing the file is not enough: a child that is being forked has it,
// too, until it runs its program.
func unlock(file *os.File) error {
	return control(file, func(fd int) error { return unix.Flock(fd, unix.LOCK_UN) })
}

func control(file *os.File, f func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}
