package sessionfile

import (
	"errors"
	"os"
	"strings"
)

// bootID is the kernel's name for its present run; containers see that of their host.
func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	id := strings.TrimSpace(string(text))
	if err == nil && id == "" {
		err = errors.New("the kernel does not name this run")
	}
	return id, err
}
