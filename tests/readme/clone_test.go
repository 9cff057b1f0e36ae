//go:build unix

package readme

import (
	"context"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// limit bounds a command that should take seconds. It is long, because a machine may be slow and
// has everything to compile.
const limit = 5 * time.Minute

// listens has the default addresses of programs.
var listens = map[string]string{
	"go run ./examples/dashboard":  "127.0.0.1:8080",
	"go -C examples/metrics run .": "127.0.0.1:9464",
}

// place is a clean clone, in which the commands of the pages are carried out, one after the other, as by one person at
// one terminal, and at others for commands that go on running.
type place struct {
	folder  string
	bin     string // where go install puts programs; before all others in PATH
	env     []string
	instead map[string]string // addresses that are taken, and the free ones for them
	limit   time.Duration     // of a command
}

// shared are flags of make test: with them what is compiled does not depend on the folder that it is in.
const shared = "-trimpath -ldflags=-w"

// newPlace clones HEAD.
func newPlace(t *testing.T) *place {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, ".git")); err != nil {
		t.Skip("this is no git repository, so that there is nothing to clone")
	}
	for _, tool := range []string{"git", "make", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	from, err := filepath.Abs(root)
	require.NoError(t, err)
	p := &place{folder: filepath.Join(t.TempDir(), "turnstile"), bin: t.TempDir(), instead: make(map[string]string), limit: limit}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		switch name { // what somebody's shell, git or make around us has set
		case "GOFLAGS", "GOBIN", "GOPROXY", "GOWORK", "PATH", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "ZOOKEEPER_SERVERS", "ZKLOCK_AUTH",
			"GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "TURNSTILE_REVOKE_TOKEN", "TURNSTILE_README":
		default:
			p.env = append(p.env, variable)
		}
	}
	if !everything() { // as make test compiles, so that what is compiled already is not compiled again
		p.env = append(p.env, "GOFLAGS="+shared)
	}
	p.env = append(p.env, "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local", "GOBIN="+p.bin,
		"PATH="+p.bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	output, err := p.command(t, filepath.Dir(p.folder), "git clone --quiet --no-hardlinks '"+from+"' turnstile").CombinedOutput()
	require.NoError(t, err, string(output))
	for _, address := range append(slices.Collect(maps.Values(listens)), "127.0.0.1:2181") {
		if free := freeInstead(t, address); free != address {
			t.Logf("%s is taken: %s instead", address, free)
			p.instead[address] = free
		}
	}
	return p
}

// freeInstead is the address itself, or one that is free where it is taken.
func freeInstead(t *testing.T, address string) string {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		listener, err = net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// here is a command with the addresses that are free here.
func (p *place) here(command string) string {
	for taken, free := range p.instead {
		command = strings.ReplaceAll(command, taken, free)
	}
	for program, usual := range listens {
		if free := p.instead[usual]; free != "" && strings.HasPrefix(command+" ", program+" ") {
			command += " -listen " + free
		}
	}
	return command
}

// command is a command of the shell, which ends with the test at the latest.
func (p *place) command(t *testing.T, folder, command string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), p.limit)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, "bash", "-c", command)
	cmd.Dir, cmd.Env = folder, p.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// run carries a command out to its end, and gives what it printed; it must succeed.
func (p *place) run(t *testing.T, command string) string {
	t.Helper()
	output, err := p.command(t, p.folder, p.here(command)).CombinedOutput()
	require.NoError(t, err, "%s\n%s", command, output)
	return string(output)
}

// leave starts a command that goes on running, and gives what it has printed when that contains a text. It is ended with
// the test, as with Ctrl-C, or when the test's process is not there any more.
func (p *place) leave(t *testing.T, command, until string) string {
	t.Helper()
	// read ends when nobody has the other end of the pipe any more.
	cmd := p.command(t, p.folder, "trap : INT TERM; "+p.here(command)+" & read -r; kill -TERM 0; wait")
	pipe, err := cmd.StdinPipe()
	require.NoError(t, err)
	printed := &watched{until: until, seen: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = printed, printed
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = pipe.Close()
		select {
		case <-ended:
		case <-time.After(limit):
			t.Errorf("%s does not end", command)
		}
	})
	select {
	case <-printed.seen:
	case err := <-ended:
		ended <- err
		require.FailNow(t, "it has ended", "%s: %v\n%s", command, err, printed)
	case <-time.After(limit):
		require.FailNow(t, "it is not ready", "%s\n%s", command, printed)
	}
	return printed.String()
}
