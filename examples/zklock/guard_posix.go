//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// guard is a process that kills the command's process group when zklock is gone without having said goodbye: when it
// was killed with SIGKILL, or by the kernel for its memory. It learns it from a pipe that closes. It is started while
// zklock waits for the lock, so that it costs no time that the lock is held.
type guard struct {
	pipe *os.File
}

// startGuard starts it, nil where it cannot be. Then the kernel alone kills the command, where it does.
func startGuard() *guard {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	read, write, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer read.Close()
	cmd := exec.Command(self, "guard")
	cmd.Stdin = read
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what ends zklock from the terminal does not end it
	if err := cmd.Start(); err != nil {
		write.Close()
		return nil
	}
	go func() { _ = cmd.Wait() }()
	return &guard{write}
}

// expect tells it, before the command is started, how its processes can be recognised: zklock may be killed before it
// can say which process group they are in.
func (g *guard) expect(node string) {
	if g != nil {
		session, _ := unix.Getsid(0)
		_, _ = fmt.Fprintln(g.pipe, "expect", session, node)
	}
}

// protect tells it which process group to kill.
func (g *guard) protect(c *child) {
	if g != nil {
		_, _ = fmt.Fprintln(g.pipe, "group", c.pid)
	}
}

// done sends it away.
func (g *guard) done() {
	if g != nil {
		_, _ = fmt.Fprintln(g.pipe, "done")
		g.pipe.Close()
	}
}

func guardCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "guard",
		Short:  "kill a command whose zklock is gone; zklock starts it",
		Hidden: true,
		Args:   checkArguments,
		RunE: func(*cobra.Command, []string) error {
			standGuard(os.Stdin)
			return nil
		},
	}
}

// standGuard reads until the pipe is closed.
func standGuard(pipe *os.File) {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	var c child
	for lines := bufio.NewScanner(pipe); lines.Scan(); {
		line := lines.Text()
		switch word, _, _ := strings.Cut(line, " "); word {
		case "expect":
			_, _ = fmt.Sscanf(line, "expect %d %s", &c.session, &c.node)
		case "group":
			_, _ = fmt.Sscanf(line, "group %d", &c.pid)
		case "done":
			return
		}
	}
	c.killGroup()
}
