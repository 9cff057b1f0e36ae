package rig

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// parentVariable makes the test binary start a server, tell its process number
// and wait to be killed.
const parentVariable = "TURNSTILE_RIG_PARENT"

func beParent() {
	server, err := NewStandalone()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(server.PID(), server.dir)
	select {}
}

func TestServerDiesWithItsParent(t *testing.T) {
	Require(t)
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentVariable+"=1")
	parent.Stderr = os.Stderr
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // says that it was killed
	number, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	pid, err := strconv.Atoi(number)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the server is gone", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		// Where nobody reaps orphans, a zombie stays.
		return err != nil || strings.Contains(string(stat), ") Z ")
	})
}
