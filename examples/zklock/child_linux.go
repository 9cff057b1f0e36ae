package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// signalStrays sends a signal to processes that a command has started in other process groups of
// its session, as shells with job control do, and reports whether there were any. They are
// recognised by the unique name of the contender's node in their environment. A process that has
// begun its own session is left alone, as it wants to be.
func signalStrays(node string, group, session int, s syscall.Signal) (any bool) {
	if node == "" {
		return false
	}
	all, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range all {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// The fields behind the name, which is in parentheses and may itself contain some: state, parent, group,
		// session.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) < 4 || fields[0] == "Z" || fields[2] == strconv.Itoa(group) || fields[3] != strconv.Itoa(session) {
			continue
		}
		folder := filepath.Dir(name)
		pid, err := strconv.Atoi(filepath.Base(folder))
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile(folder + "/environ")
		if err != nil || !bytes.Contains(env,
			[]byte("/"+node)) { // as heldVariable has it, also of zklocks below this one
			continue
		}
		any = true
		_ = syscall.Kill(pid, s)
	}
	return any
}

// dieWithParent has the kernel kill the command when zklock is gone, however it ended. It is for the command's own
// process; the guard is for the processes that it has started.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
