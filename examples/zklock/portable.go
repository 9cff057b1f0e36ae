//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly)

package main

import (
	"os"
	"os/exec"
	"os/signal"

	"github.com/spf13/cobra"
)

// Systems without process groups as POSIX has them: the command's own process is ended, at once and for good, and what
// it has started is not reached. Nothing ends it when zklock itself is killed.

// processGroups reports whether run can end all that the command has started.
const processGroups = false

type child struct {
	process *os.Process
	ended   chan ending
	stops   chan os.Signal // nobody is ever stopped
}

type ending struct {
	status int
	killed bool
}

func startChild(cmd *exec.Cmd, _ string, _ *terminal) (*child, error) {
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{process: cmd.Process, ended: make(chan ending, 1)}
	go func() {
		_ = cmd.Wait()
		c.ended <- ending{status: cmd.ProcessState.ExitCode()}
	}()
	return c, nil
}

func (c *child) signal(s os.Signal) {
	if s != os.Interrupt { // the console's has reached the command, too
		_ = c.process.Signal(s)
	}
}

func (c *child) terminateGroup()  { _ = c.process.Kill() }
func (c *child) killGroup()       { _ = c.process.Kill() }
func (c *child) proceed()         {}
func (c *child) groupLives() bool { return false }

func passSignals() <-chan os.Signal {
	caught := make(chan os.Signal, 32)
	signal.Notify(caught, os.Interrupt)
	return caught
}

type terminal struct{}

func ownTerminal() *terminal               { return nil }
func controllingTerminal() *terminal       { return nil }
func asksForTerminal(os.Signal) bool       { return false }
func (t *terminal) give(*child) bool       { return false }
func (t *terminal) takeBack(bool)          {}
func (t *terminal) suspend(os.Signal) bool { return false }

// inFront: there is no background.
func inFront(int) bool { return true }

// notifyResize: the size is read every second.
func notifyResize(chan<- os.Signal) {}

type guard struct{}

func startGuard() *guard        { return nil }
func (g *guard) expect(string)  {}
func (g *guard) protect(*child) {}
func (g *guard) done()          {}

func guardCommand() *cobra.Command {
	return &cobra.Command{Use: "guard", Hidden: true, Args: checkArguments, RunE: func(*cobra.Command,
		[]string) error {
		return nil
	}}
}
