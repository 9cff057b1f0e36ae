// Fetch has Maven and pip bring what package pinned names into the user's cache. It does nothing, and needs no network,
// where all is there.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/turnstile-locks/turnstile/tests/rig/pinned"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("fetch: ")
	if err := errors.Join(jars(), environment()); err != nil {
		log.Fatal(err)
	}
}

// jars has Maven copy what each profile names. It checks each file against the repository's checksum.
func jars() error {
	profiles, err := pinned.Profiles()
	if err != nil {
		return err
	}
	for _, profile := range profiles {
		folder, err := pinned.Folder(profile)
		if err != nil {
			return err
		}
		err = within(folder, func(making string) error {
			pom := filepath.Join(making, "pom.xml")
			if err := os.WriteFile(pom, pinned.POM, 0o600); err != nil {
				return err
			}
			return run("mvn", "--batch-mode", "--quiet", "-Dstyle.color=never", "--strict-checksums", "--file", pom, "--activate-profiles", profile,
				"dependency:copy-dependencies", "-DoutputDirectory="+making)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", profile, err)
		}
	}
	return nil
}

// environment makes a virtual environment and has pip install there what the requirements
// name, whose hashes it checks.
func environment() error {
	folder, err := pinned.Environment()
	if err != nil {
		return err
	}
	err = within(folder, func(making string) error {
		requirements := filepath.Join(making, "requirements.txt")
		if err := os.WriteFile(requirements, pinned.Requirements, 0o600); err != nil {
			return err
		}
		if err := run(pinned.SystemPython, "-m", "venv", making); err != nil {
			return err
		}
		return run(filepath.Join(making, "bin", "python"), "-m", "pip", "install", "--quiet", "--require-hashes", "--requirement", requirements)
	})
	if err != nil {
		return fmt.Errorf("kazoo: %w", err)
	}
	return nil
}

// within fills a folder beside its place and moves it there when it is whole, so that no test sees a part of it.
func within(folder string, fill func(making string) error) (err error) {
	if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(folder), 0o700); err != nil {
		return err
	}
	making, err := os.MkdirTemp(filepath.Dir(folder), "making-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(making)) }()
	log.Print(folder)
	if err := fill(making); err != nil {
		return err
	}
	err = os.Rename(making, folder)
	if _, there := os.Stat(folder); there == nil {
		return nil // ours, or another process's, which did the same meanwhile
	}
	return err
}

func run(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
