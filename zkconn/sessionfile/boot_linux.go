package sessionfile

import (
	"errors"
	"os"
	"strings"
)

// bootID gives the kernel's ID of its present run; a container sees its host's.
func bootID() (string, error) {
	text, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	id := strings.TrimSpace(string(text))
	if err == nil && id == "" {
		err = errors.New("the kernel does not name this run")
	}
	return id, err
}
