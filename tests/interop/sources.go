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

	"github.com/turnstile-locks/turnstile/tests/child"
)

// sources are the workers' programs. They are part of the test binary, so that
// tests of any package can run them.
//
//go:embed java/interop/*.java python/*.py
var sources embed.FS

// programs are the workers' programs, ready to run, in a folder of their own.
type programs struct {
	once   sync.Once
	folder string
	err    error
}

// prepared is made by the first worker of a process, for all of them.
var prepared programs

// prepare writes the programs out and compiles what needs it, once.
func (p *programs) prepare() (string, error) {
	p.once.Do(func() {
		if p.err = Available(); p.err != nil {
			return
		}
		if p.folder, p.err = os.MkdirTemp("", "turnstile-interop-"); p.err != nil {
			return
		}
		if p.err = os.CopyFS(p.folder, sources); p.err == nil {
			p.err = compile(p.folder)
		}
	})
	return p.folder, p.err
}

// RemovePrograms removes what the workers of this process ran. It is called at
// the end of TestMain, when no worker runs any more.
func RemovePrograms() error {
	if prepared.folder == "" {
		return nil
	}
	return os.RemoveAll(prepared.folder)
}

func compile(folder string) error {
	files, err := fs.Glob(sources, "java/interop/*.java")
	if err != nil {
		return err
	}
	// Only the quick compiler: javac itself runs for a second or two.
	args := []string{"-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC", "-proc:none", "-Xlint:all,-path",
		"-d", classes(folder), "-cp", classPath(curatorJars)}
	for _, file := range files {
		args = append(args, filepath.Join(folder, filepath.FromSlash(file)))
	}
	var output bytes.Buffer
	cmd := exec.Command("javac", args...)
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := child.Run(cmd); err != nil {
		return errors.Join(fmt.Errorf("interop: javac: %w\n%s", err, &output), os.RemoveAll(folder))
	}
	return nil
}

func classes(folder string) string { return filepath.Join(folder, "classes") }
