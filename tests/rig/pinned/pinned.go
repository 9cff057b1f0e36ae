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
var ErrMissing = errors.New("not fetched yet: run make deps")

// POM names what Maven is to bring, by profiles, each a class path of its own.
//
//go:embed pom.xml
var POM []byte

// Requirements names what pip is to bring, each with its hashes.
//
//go:embed requirements.txt
var Requirements []byte

// SystemPython is the interpreter that the virtual environment is made from. The first python3 in PATH may be one that
// a user made for something else.
const SystemPython = "/usr/bin/python3"

// Profiles lists the class paths that the POM names, in its order.
func Profiles() ([]string, error) {
	var pom struct {
		IDs []string `xml:"profiles>profile>id"`
	}
	if err := xml.Unmarshal(POM, &pom); err != nil {
		return nil, fmt.Errorf("pinned: pom.xml: %w", err)
	}
	return pom.IDs, nil
}

// Folder gives the folder of a profile's jars, which need not exist yet.
func Folder(profile string) (string, error) { return folder(POM, profile) }

// Environment gives the folder of the virtual environment, which need not exist yet. It belongs to
// one version of Python, so its name has that, too.
func Environment() (string, error) {
	python, err := filepath.EvalSymlinks(SystemPython)
	if err != nil {
		return "", fmt.Errorf("pinned: %w", err)
	}
	return folder(Requirements, filepath.Base(python))
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
func ClassPath(profile string) (string, error) {
	folder, err := Folder(profile)
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
func Python() (string, error) {
	environment, err := Environment()
	if err != nil {
		return "", err
	}
	python := filepath.Join(environment, "bin", "python")
	if _, err := os.Stat(python); err != nil {
		return "", fmt.Errorf("pinned: kazoo in %s: %w", environment, ErrMissing)
	}
	return python, nil
}
