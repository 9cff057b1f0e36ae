package pinned

import (
	"crypto/sha256"
	_ "embed" // for the two files
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrMissing is wrapped by errors that say that something was not fetched yet.
var ErrMissing = errors.New("not fetched yet: run make deps, or make peers-suites")

// Set names what Maven is to bring, by profiles, and what pip is to bring.
type Set struct {
	POM          []byte // of profiles, each a class path of its own
	Requirements []byte // each with its hashes
}

//go:embed pom.xml
var testsPOM []byte

//go:embed requirements.txt
var testsRequirements []byte

//go:embed peers/pom.xml
var peersPOM []byte

//go:embed peers/requirements.txt
var peersRequirements []byte

// Tests is the set that make test-all needs: servers of ZooKeeper, Curator and kazoo.
var Tests = Set{POM: testsPOM, Requirements: testsRequirements}

// Peers is the set that make peers-suites needs beside it: the suites of other clients of
// ZooKeeper.
var Peers = Set{POM: peersPOM, Requirements: peersRequirements}

// SystemPython is the interpreter that the virtual environment is made from. The first python3 in PATH may be one that
// a user made for something else.
const SystemPython = "/usr/bin/python3"

// Profiles lists the class paths that the POM names, in its order.
func (s Set) Profiles() ([]string, error) {
	var pom struct {
		IDs []string `xml:"profiles>profile>id"`
	}
	if err := xml.Unmarshal(s.POM, &pom); err != nil {
		return nil, fmt.Errorf("pinned: pom.xml: %w", err)
	}
	return pom.IDs, nil
}

// Folder gives the folder of a profile's jars, which need not exist yet.
func (s Set) Folder(profile string) (string, error) { return folder(s.POM, profile) }

// Environment gives the folder of the virtual environment, which need not exist yet. It belongs to
// one version of Python, so its name has that, too.
func (s Set) Environment() (string, error) {
	python, err := filepath.EvalSymlinks(SystemPython)
	if err != nil {
		return "", fmt.Errorf("pinned: %w", err)
	}
	return folder(s.Requirements, filepath.Base(python))
}

func folder(file []byte, name string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("pinned: folder of caches: %w", err)
	}
	return filepath.Join(cache, "turnstile", "pinned", fmt.Sprintf("%s-%x", name, sha256.Sum256(file))[:len(name)+17]), nil
}

// ClassPath gives the class path of a profile: all of its jars. The error wraps [ErrMissing] where
// they are missing.
func (s Set) ClassPath(profile string) (string, error) {
	folder, err := s.Folder(profile)
	if err != nil {
		return "", err
	}
	jars, err := filepath.Glob(filepath.Join(folder, "*.jar")) // in the order of their names
	if err != nil {
		return "", fmt.Errorf("pinned: %w", err)
	}
	if len(jars) == 0 {
		return "", fmt.Errorf("pinned: %s in %s: %w", profile, folder, ErrMissing)
	}
	return strings.Join(jars, string(os.PathListSeparator)), nil
}

// Python is the interpreter of the virtual environment. The error wraps [ErrMissing] where it is not there.
func (s Set) Python() (string, error) {
	environment, err := s.Environment()
	if err != nil {
		return "", err
	}
	python := filepath.Join(environment, "bin", "python")
	if _, err := os.Stat(python); err != nil {
		return "", fmt.Errorf("pinned: kazoo in %s: %w", environment, ErrMissing)
	}
	return python, nil
}
