// Package zklock tests examples/zklock as people use it: the built command, against servers.
package zklock

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/turnstile-locks/turnstile/tests/scene"
)

// program is the built command.
var program string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	folder, err := os.MkdirTemp("", "zklock-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(folder)
	program = filepath.Join(folder, "zklock")
	if output, err := exec.Command("go", "build", "-o", program, "../../examples/zklock").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, output)
		return 1
	}
	return scene.Run(m)
}
