package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"

	"github.com/turnstile-locks/turnstile/actors"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// The exit statuses, as README.md lists them.
const (
	statusNo          = 1
	statusUsage       = 64
	statusMissing     = 66
	statusUnreachable = 69
	statusRefused     = 70
	statusNotAcquired = 75
	statusLost        = 79
	statusRevoked     = 80
	statusNotRun      = 81
	statusCannotRun   = 126
	statusNotFound    = 127
	statusSignalled   = 128 // and the signal's number
)

// exit is an error that ends the program with a status. An empty text is not printed.
type exit struct {
	status int
	text   string
}

func (e *exit) Error() string { return e.text }

func exitWith(status int, format string, args ...any) error {
	return &exit{status, fmt.Sprintf(format, args...)}
}

// badUse is an error in a command as it was typed: what is wrong, and what to type.
func badUse(typed, format string, args ...any) error {
	return exitWith(statusUsage, "%s; type: %s", fmt.Sprintf(format, args...), typed)
}

// statusOf is the exit status of an error, and the text to be shown.
func statusOf(err error) (int, string) {
	var e *exit
	if errors.As(err, &e) {
		return e.status, e.text
	}
	text := strings.TrimPrefix(err.Error(), "turnstile: ")
	switch {
	case errors.Is(err, zkconn.ErrBadConfig), errors.Is(err, zkconn.ErrBadPath), errors.Is(err, actors.ErrBadAcquire):
		return statusUsage, text
	case errors.Is(err, locks.ErrNotHolding), errors.Is(err, locks.ErrGone):
		return statusNo, text
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, zkconn.ErrUnavailable):
		return statusUnreachable, text
	}
	return statusRefused, text
}

// cannotRun is the error of a command that was not found, or is no program, with the status that shells have for it.
func cannotRun(name string, err error) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return exitWith(statusNotFound, "there is no command %q; the lock was not taken", name)
	}
	return exitWith(statusCannotRun, "%q cannot be run: %v; the lock was not taken", name, cause(err))
}

// cannotStart is the error of a command that exists, and that the system does not start. Where it
// says that a file does not exist, the interpreter is missing.
func cannotStart(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return exitWith(statusCannotRun, "%q cannot be run: the interpreter that it names is not there", name)
	}
	return exitWith(statusCannotRun, "%q cannot be run: %v", name, cause(err))
}

// cause is an error of the file system without the name of the file.
func cause(err error) error {
	var program *exec.Error
	if errors.As(err, &program) {
		err = program.Err
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
