//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package sessionfile

import (
	"fmt"
	"os"
	"runtime"
)

// openOwn refuses: owners, modes and flock are Unix's.
func openOwn(path string) (*os.File, error) {
	return nil, fmt.Errorf("%w: %s: there are no session files on %s", ErrRefused, path, runtime.GOOS)
}
