package rig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/tests/rig/pinned"
)

// VersionVariable is the environment variable that chooses which ZooKeeper servers are, by its version.
const VersionVariable = "TURNSTILE_ZOOKEEPER"

// DefaultVersion is the default version of the servers.
const DefaultVersion = "3.9.5"

// Debian is the version that Debian 12 has. Its package brings the jars.
const Debian = "3.8.0"

// Version is the version of the servers: of [VersionVariable], or [DefaultVersion].
func Version() string {
	if chosen := os.Getenv(VersionVariable); chosen != "" {
		return chosen
	}
	return DefaultVersion
}

// Versions lists the versions that can be chosen: package pinned's, and Debian's.
func Versions() ([]string, error) {
	profiles, err := pinned.Profiles()
	if err != nil {
		return nil, fmt.Errorf("rig: %w", err)
	}
	var versions []string
	for _, profile := range profiles {
		if version, ok := strings.CutPrefix(profile, profilePrefix); ok {
			versions = append(versions, version)
		}
	}
	return append(versions, Debian), nil
}

const profilePrefix = "zookeeper-"

// debianJars are the class path of Debian's version: the jars that are needed beside the ones that
// the manifest of zookeeper.jar names. That lacks some of netty's, without which a server with TLS
// ends with NoClassDefFoundError. slf4j-simple logs to standard error without a configuration file,
// and commons-cli is for ZooKeeper's shell.
var debianJars = []string{
	"zookeeper-3.8.0.jar", "slf4j-simple.jar",
	"netty-codec.jar", "netty-resolver.jar", "netty-transport-native-unix-common.jar", "commons-cli.jar",
}

const (
	debianFolder = "/usr/share/java"
	debianHowTo  = "on Debian 12: apt-get install --no-install-recommends zookeeper libnetty-java default-jre-headless"
)

// ClassPath is the class path of the servers of [Version], and of its shell. The error wraps
// [ErrUnavailable].
func ClassPath() (string, error) {
	version := Version()
	versions, err := Versions()
	if err != nil {
		return "", err
	}
	switch {
	case !slices.Contains(versions, version):
		return "", fmt.Errorf("%w: %s=%s is none of %s", ErrUnavailable, VersionVariable, version, strings.Join(versions, ", "))
	case version == Debian:
		return debianClassPath()
	}
	path, err := pinned.ClassPath(profilePrefix + version)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return path, nil
}

func debianClassPath() (string, error) {
	var paths []string
	var missing []error
	for _, jar := range debianJars {
		path := filepath.Join(debianFolder, jar)
		_, err := os.Stat(path)
		paths, missing = append(paths, path), append(missing, err)
	}
	if err := errors.Join(missing...); err != nil {
		return "", fmt.Errorf("%w: %w; %s", ErrUnavailable, err, debianHowTo)
	}
	return strings.Join(paths, string(os.PathListSeparator)), nil
}
