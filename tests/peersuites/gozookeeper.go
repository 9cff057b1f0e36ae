package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

const goZooKeeper = "github.com/go-zookeeper/zk"

// runGoZooKeeper runs the tests of go-zookeeper, of the version in go.mod, in a copy of the module. They start servers,
// alone and three together, with zkServer.sh in the folder ZOOKEEPER_BIN_PATH.
func runGoZooKeeper(ctx context.Context, r *round, only []string) (outcomes, error) {
	folder, err := copyGoZooKeeper(ctx, r)
	if err != nil {
		return nil, err
	}
	script := r.standInScript(`"$2"`)
	if r.kind == onReal {
		if script, err = realScript(`"$2"`); err != nil {
			return nil, err
		}
	}
	bin, err := r.serverCommand("zkServer.sh", script)
	if err != nil {
		return nil, err
	}
	command := []string{"go", "test", "-json", "-count=1", "-timeout=10m"}
	if len(only) > 0 {
		command = append(command, "-run="+goTests(only))
	}
	env := []string{"ZOOKEEPER_BIN_PATH=" + bin, "ZK_VERSION=" + rig.Version(), "GOFLAGS=-buildvcs=false"}
	printed := filepath.Join(r.folder, "go-zookeeper.json")
	if err := os.RemoveAll(printed); err != nil { // of a run before, of other tests
		return nil, err
	}
	if err := r.run(ctx, folder, filepath.Base(printed), env, append(command, ".")...); err != nil {
		return nil, err
	}
	output, err := os.Open(printed)
	if err != nil {
		return nil, err
	}
	defer func() { _ = output.Close() }()
	return fromGo(output)
}

// copyGoZooKeeper copies the module into the round's folder, once, and mends the test helper that waits for servers. It
// asks them with FLWSrvr, which cannot read the date that servers since 3.6 print, so no test of it would begin.
func copyGoZooKeeper(ctx context.Context, r *round) (string, error) {
	folder := filepath.Join(r.folder, "go-zookeeper")
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	output, err := exec.CommandContext(ctx, "go", "mod", "download", "-json", goZooKeeper).Output()
	if err != nil {
		return "", fmt.Errorf("go mod download %s: %w", goZooKeeper, err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(output, &module); err != nil {
		return "", fmt.Errorf("go mod download %s: %w", goZooKeeper, err)
	}
	if err := os.CopyFS(folder, os.DirFS(module.Dir)); err != nil {
		return "", err
	}
	const (
		asked = "_, ok := FLWSrvr(serverAddrs, time.Second)"
		asks  = `ok := true
		for _, addr := range serverAddrs {
			answer, err := fourLetterWord(addr, "srvr", time.Second)
			ok = ok && err == nil && strings.Contains(string(answer), "Mode: ")
		}`
	)
	helper := filepath.Join(folder, "server_help_test.go")
	content, err := os.ReadFile(helper)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(content), asked); n != 1 {
		return "", fmt.Errorf("%s: %q is there %d times, want once", helper, asked, n)
	}
	if err := os.Chmod(helper, 0o600); err != nil {
		return "", err
	}
	return folder, os.WriteFile(helper, []byte(strings.Replace(string(content), asked, asks, 1)), 0o600)
}

// goTests is the pattern for -run that chooses tests. One that is part of another is run with it.
func goTests(only []string) string {
	var names []string
	for _, test := range only {
		name, _, _ := strings.Cut(test, "/")
		names = append(names, name)
	}
	slices.Sort(names)
	return "^(" + strings.Join(slices.Compact(names), "|") + ")$"
}
