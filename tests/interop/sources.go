package interop

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// sources are the workers' programs. They are part of the test binary, so that
// tests of any package can run them.
//
//go:embed java/interop/*.java python/*.py
var sources embed.FS

// programs is the folder of the workers' programs, once they are ready to run.
var programs string

// prepared gives that folder. The first worker of a process has the programs written out and compiled, for all of them.
var prepared = sync.OnceValues(func() (folder string, err error) {
	if err := Available(); err != nil {
		return "", err
	}
	if programs, err = os.MkdirTemp("", "turnstile-interop-"); err != nil {
		return "", err
	}
	return programs, errors.Join(os.CopyFS(programs, sources), compile(programs))
})

// RemovePrograms removes what the workers of this process ran. It is called at
// the end of TestMain, when no worker runs any more.
func RemovePrograms() error {
	if programs == "" {
		return nil
	}
	return os.RemoveAll(programs)
}

func compile(folder string) error {
	files, err := fs.Glob(sources, "java/interop/*.java")
	if err != nil {
		return err
	}
	jars, err := curatorClassPath()
	if err != nil {
		return err
	}
	// Only the quick compiler: javac itself runs for a second or two.
	args := []string{"-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-proc:none", "-Xlint:all,-path",
		"-d", classes(folder), "-cp", jars}
	for _, file := range files {
		args = append(args, filepath.Join(folder, filepath.FromSlash(file)))
	}
	var output bytes.Buffer
	cmd := exec.Command("javac", args...)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := rig.RunProcess(cmd); err != nil {
		return fmt.Errorf("interop: javac: %w\n%s", err, &output)
	}
	return nil
}

func classes(folder string) string { return filepath.Join(folder, "classes") }
