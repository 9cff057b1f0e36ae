// Archive writes the archive of classes from which the servers of package rig start sooner, as Java's class data
// sharing has it (JEP 310). A server alone and three together list what they load while they serve a client. Archive does
// nothing where there is one of this Java and these jars already. Servers start without one, too.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("archive: ")
	path, err := rig.Archive()
	if err == nil {
		if _, err = os.Stat(path); errors.Is(err, os.ErrNotExist) {
			err = write(path)
		}
	}
	if err != nil { // a user without a folder for caches, for one, has tests that take longer, and no failure
		log.Print("servers start without it: ", err)
	}
}

// write makes the archive beside its place and moves it there, so that no server sees a part of it.
func write(path string) (err error) {
	classPath, err := rig.ClassPath()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), "making-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	classes, err := loaded(folder)
	if err != nil {
		return err
	}
	list, made := filepath.Join(folder, "classes"), filepath.Join(folder, "archive")
	if err := os.WriteFile(list, classes, 0o600); err != nil {
		return err
	}
	// Only this collector can write what all can map.
	output, err := exec.Command("java", "-Xshare:dump", "-XX:+UseG1GC", "-XX:SharedClassListFile="+list,
		"-XX:SharedArchiveFile="+made, "-cp", classPath).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, output)
	}
	return os.Rename(made, path)
}

// loaded lists the classes that servers load, in an order in which each can be loaded after those before it.
func loaded(folder string) ([]byte, error) {
	const options = "JAVA_TOOL_OPTIONS"
	before := os.Getenv(options)
	if err := os.Setenv(options, strings.TrimSpace(before+" -Xshare:auto -XX:DumpLoadedClassList="+filepath.Join(folder, "%p.list"))); err != nil {
		return nil, err
	}
	err := errors.Join(serveAlone(), serveTogether(), os.Setenv(options, before))
	if err != nil {
		return nil, err
	}
	lists, err := filepath.Glob(filepath.Join(folder, "*.list"))
	if err != nil {
		return nil, err
	}
	if len(lists) == 0 {
		return nil, errors.New("no server listed its classes")
	}
	seen, all := map[string]bool{}, &bytes.Buffer{}
	for _, name := range lists {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		whole := b[:bytes.LastIndexByte(b, '\n')+1] // a server that is killed does not finish its last line
		for line := range strings.Lines(string(whole)) {
			if !seen[line] && !strings.HasPrefix(line, "#") {
				seen[line] = true
				all.WriteString(line)
			}
		}
	}
	return all.Bytes(), nil
}

func serveAlone() error {
	server, err := rig.NewStandalone()
	if err != nil {
		return err
	}
	return errors.Join(use(server.Addr()), server.Stop())
}

func serveTogether() error {
	servers, err := rig.NewEnsemble(3)
	if err != nil {
		return err
	}
	return errors.Join(use(strings.Split(servers.Addrs(), ",")...), servers.Stop())
}

// use asks of servers what tests ask of them.
func use(addrs ...string) error {
	conn, _, err := zk.Connect(addrs, 10*time.Second, zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		return err
	}
	defer conn.Close()
	const path = "/archive"
	acl := zk.WorldACL(zk.PermAll)
	_, err = conn.Create(path, nil, 0, acl)
	node, createErr := conn.CreateProtectedEphemeralSequential(path+"/lock-", nil, acl)
	_, _, childrenErr := conn.Children(path)
	_, _, _, watchErr := conn.GetW(path)
	_, setErr := conn.Set(path, []byte("x"), -1)
	_, multiErr := conn.Multi(&zk.CheckVersionRequest{Path: path, Version: -1}, &zk.DeleteRequest{Path: node, Version: -1})
	return errors.Join(err, createErr, childrenErr, watchErr, setErr, multiErr)
}
