//go:build !(linux || darwin)

package sessionfile

import (
	"errors"
	"os"
	"runtime"
)

var errUnsupported = errors.New("there are no session files on " + runtime.GOOS)

// bootID refuses: owners, modes, flock and the kernel's run are known here for Linux and macOS.
func bootID() (string, error) { return "", errUnsupported }

func openOwn(string) (*os.File, error) { return nil, errUnsupported }

func unlock(*os.File) error { return errUnsupported }
