//go:build linux

package matrix

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/relists"
)

// process is a child as its parent sees it.
type process struct {
	cmd      *exec.Cmd
	commands io.WriteCloser
	relists  *relists.Listener // to what it writes besides

	mu      sync.Mutex
	heard   []said
	changed chan struct{} // closed and replaced at every line
	ended   bool
}

// startChild starts one, which has a session when it returns. The caller kills it.
func startChild(o order) (*process, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), childVariable+"="+string(text))
	p := &process{cmd: cmd, changed: make(chan struct{}), relists: relists.Listen(os.Stderr)}
	cmd.Stderr = p.relists
	if p.commands, err = cmd.StdinPipe(); err != nil { // closed when we end: the child ends then too
		return nil, err
	}
	lines, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go p.listen(lines)
	if _, err := p.await("open", ""); err != nil {
		p.kill()
		return nil, err
	}
	return p, nil
}

func (p *process) listen(from io.Reader) {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		var s said
		if json.Unmarshal(lines.Bytes(), &s) == nil {
			p.note(s, false)
		}
	}
	p.note(said{}, true)
}

func (p *process) note(s said, ended bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ended {
		p.ended = true
	} else {
		p.heard = append(p.heard, s)
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// await waits until the child has said something, in a state where that counts.
func (p *process) await(what, state string) (said, error) {
	late := time.After(bound)
	for {
		p.mu.Lock()
		heard, changed, ended := p.heard, p.changed, p.ended
		p.mu.Unlock()
		for _, s := range heard {
			if s.What == what && s.State == state {
				return s, nil
			}
		}
		if ended {
			return said{}, fmt.Errorf("the child ended without %s %s: %+v", what, state, heard)
		}
		select {
		case <-changed:
		case <-late:
			return said{}, fmt.Errorf("the child never said %s %s: %+v", what, state, heard)
		}
	}
}

// story has the steps of the child's request so far.
func (p *process) story() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var states []string
	for _, s := range p.heard {
		if s.What == "state" {
			states = append(states, s.State)
		}
	}
	return strings.Join(states, " → ")
}

func (p *process) tell(command string) error {
	_, err := io.WriteString(p.commands, command+"\n")
	return err
}

// stop stops every thread of the child, and returns when the kernel says that it has.
func (p *process) stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	for !p.stopped() {
		time.Sleep(time.Millisecond)
	}
	return nil
}

func (p *process) stopped() bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", p.cmd.Process.Pid))
	for _, name := range threads {
		content, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		// The state follows the name, which is in parentheses and may contain some.
		if state := string(content[strings.LastIndexByte(string(content), ')')+1:]); !strings.HasPrefix(state, " T") {
			return false
		}
	}
	return true
}

func (p *process) goOn() error { return p.cmd.Process.Signal(syscall.SIGCONT) }

// end kills the child. It fails the test if a re-list has told a waiter of the child's what no event had.
func (p *process) end(t *testing.T) {
	p.kill()
	require.NoError(t, p.relists.Err())
}

// kill ends the child as kill -9 does, and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}
