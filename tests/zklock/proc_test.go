package zklock

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

func kill(pid int) error { return syscall.Kill(pid, syscall.SIGKILL) }

// guardOf finds the guard that a zklock has started: its child that is called so.
func guardOf(t *testing.T, parent int) (guard int) {
	t.Helper()
	scene.Eventually(t, func() bool {
		all, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, name := range all {
			stat, err := os.ReadFile(name)
			if err != nil {
				continue
			}
			fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
			if len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
				continue
			}
			folder := filepath.Dir(name)
			line, err := os.ReadFile(folder + "/cmdline")
			if err == nil && bytes.Equal(line, fmt.Appendf(nil, "%s\x00guard\x00", program)) {
				guard, _ = strconv.Atoi(filepath.Base(folder))
				return true
			}
		}
		return false
	}, "%d has no guard", parent)
	return guard
}
