package gssapi

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// anybody may own a file.
const anybody = -1

// readFile reads a regular file of this owner. Opening does not block: a pipe in its place would make us wait for
// somebody who writes to it.
func readFile(path string, owner int) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: must be a regular file", path)
	case owner != anybody && ownerOf(info) != owner:
		return nil, fmt.Errorf("%s: must belong to user %d, and belongs to %d", path, owner, ownerOf(info))
	}
	return io.ReadAll(file)
}
