package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// kind says which servers a suite meets.
type kind string

const (
	onReal     kind = "real"
	onEmbedded kind = "embedded"
)

// round is one run of a suite on servers of one kind.
type round struct {
	kind   kind
	folder string // for all that the run writes
	self   string // this program
	host   *host  // nil: real servers
}

// newRound prepares a folder of its own.
func newRound(kind kind, folder string, report func(error)) (*round, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	r := &round{kind: kind, folder: folder, self: self}
	if kind == onEmbedded {
		r.host, err = newHost(report)
	}
	return r, err
}

func (r *round) close() {
	if r.host != nil {
		r.host.close()
	}
}

// serverCommand makes an executable in the round's folder that takes the command line of a server's main class: a real
// server, or a stand-in. It returns the folder that has it. Jars are the class path.
func (r *round) serverCommand(name, script string) (string, error) {
	bin := filepath.Join(r.folder, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		return "", err
	}
	return bin, writeCommand(bin, name, script)
}

// standInScript is a script's line that becomes a stand-in.
func (r *round) standInScript(args string) string {
	return fmt.Sprintf("exec '%s' %s %s", r.self, standIn, args)
}

// realScript is a script's line that becomes a real server, of the version that the rig starts.
func realScript(args string) (string, error) {
	jars, err := rig.ClassPath()
	if err != nil {
		return "", err
	}
	return "exec java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData " +
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn $SERVER_JVMFLAGS " +
		"-cp '" + jars + "' org.apache.zookeeper.server.quorum.QuorumPeerMain " + args, nil
}

// run runs a command of the suite in a folder, with its output in a file of the round's folder. That tests fail is no
// error: the exit status 1 says so for all suites.
func (r *round) run(ctx context.Context, in, log string, env []string, command ...string) error {
	file, err := os.OpenFile(filepath.Join(r.folder, log), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = in, file, file
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that it stops the servers that it has started
	cmd.WaitDelay = 20 * time.Second
	cmd.Env = append(os.Environ(), env...)
	if r.host != nil {
		cmd.Env = append(cmd.Env, hostVariable+"="+r.host.addr())
	}
	err = child.Run(cmd)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s (its output is in %s): %w", strings.Join(command[:min(3, len(command))], " "), file.Name(), err)
	}
	return nil
}
