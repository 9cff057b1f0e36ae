package scene

import (
	"fmt"
	"sync"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
)

// Witness sees what the workers do, and believes nothing of the library but tokens and node names.
type Witness struct {
	mu        sync.Mutex
	Holders   int
	Most      int
	Tokens    []messages.Token
	Sequences []int32
}

// A holder calls Enter. It fails where the node is no contender's.
func (w *Witness) Enter(lease *locks.Lease) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Holders++
	w.Most = max(w.Most, w.Holders)
	seq, ok := queue.Sequence(lease.Node())
	if !ok {
		return fmt.Errorf("%q is no contender's name", lease.Node())
	}
	w.Tokens = append(w.Tokens, lease.Token())
	w.Sequences = append(w.Sequences, seq)
	return nil
}

// Leave is called before it gives back.
func (w *Witness) Leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Holders--
}
