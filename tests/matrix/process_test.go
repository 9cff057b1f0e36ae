//go:build linux

package matrix

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/child"
	"github.com/turnstile-locks/turnstile/tests/relists"
)

// process is a child as its parent sees it.
type process struct {
	*child.Talker
	relists *relists.Listener // to what it writes besides

	mu      sync.Mutex
	heard   []said
	changed chan struct{} // closed and replaced at every line
	ended   bool
}

// startChild starts one, which has a session when it returns. The caller kills it.
func startChild(o order) (*process, error) {
	cmd, err := child.Again(childVariable, o)
	if err != nil {
		return nil, err
	}
	p := &process{changed: make(chan struct{}), relists: relists.Listen(os.Stderr)}
	cmd.Stderr = p.relists
	if p.Talker, err = child.Talk(cmd); err != nil {
		return nil, err
	}
	go func() {
		for line := range p.Says {
			var s said
			if json.Unmarshal([]byte(line), &s) == nil {
				p.note(s, false)
			}
		}
		p.note(said{}, true)
	}()
	if _, err := p.await("open", ""); err != nil {
		return nil, errors.Join(err, p.Kill())
	}
	return p, nil
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

// end kills the child. It fails the test if a re-list has told a waiter of the child's what no event had.
func (p *process) end(t *testing.T) {
	require.NoError(t, p.Kill())
	require.NoError(t, p.relists.Err())
}
