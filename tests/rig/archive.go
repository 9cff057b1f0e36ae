package rig

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// Archive gives the path of the archive of the servers' classes. A JVM that maps it neither reads
// nor verifies those classes, and starts a server in two thirds of the time. Package archive writes
// it; servers start without one, too. Its name changes with Java and the jars.
var Archive = sync.OnceValues(func() (string, error) {
	folder, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("rig: folder for the archive: %w", err)
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return "", fmt.Errorf("rig: %w", err)
	}
	classPath, err := ClassPath()
	if err != nil {
		return "", err
	}
	made := sha256.New()
	for _, path := range append([]string{java}, filepath.SplitList(classPath)...) {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return "", fmt.Errorf("rig: archive: %w", err)
		}
		info, err := os.Stat(real)
		if err != nil {
			return "", fmt.Errorf("rig: archive: %w", err)
		}
		fmt.Fprintln(made, real, info.Size(), info.ModTime().UnixNano())
	}
	return filepath.Join(folder, "turnstile", fmt.Sprintf("zookeeper-%s-%x.jsa", Version(), made.Sum(nil)[:8])), nil
})

// archiveFlags have a JVM map the archive where there is one. It must not fail for want of it.
func archiveFlags() []string {
	path, err := Archive()
	if err != nil {
		return nil
	}
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	return []string{"-XX:SharedArchiveFile=" + path, "-Xshare:auto"}
}
