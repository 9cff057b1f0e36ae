package main

import (
	"fmt"
	"sync"

	"github.com/turnstile-locks/turnstile/messages"
)

// witness checks from outside the library that one worker holds at a time, and that tokens grow.
type witness struct {
	mu      sync.Mutex
	holders int
	grants  int
	newest  messages.Token
	err     error
}

func (w *witness) enter(token messages.Token) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holders++
	w.grants++
	if w.holders > 1 {
		w.keep(fmt.Errorf("%d holders at a time (token %v)", w.holders, token))
	}
	if token <= w.newest {
		w.keep(fmt.Errorf("token %v after token %v", token, w.newest))
	}
	w.newest = token
}

func (w *witness) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.holders--
}

func (w *witness) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keep(err)
}

// keep remembers the first error.
func (w *witness) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *witness) verdict(want int) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && w.grants != want {
		w.err = fmt.Errorf("%d grants instead of %d", w.grants, want)
	}
	return w.err
}
