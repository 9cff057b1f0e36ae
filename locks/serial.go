package locks

import "sync"

// serial calls functions one after the other, on a goroutine that lives while there are any.
type serial struct {
	mu      sync.Mutex
	waiting []func()
	running bool
}

// tell appends a function to the queue, and returns at once.
func (s *serial) tell(call func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = append(s.waiting, call)
	if !s.running {
		s.running = true
		go s.run()
	}
}

func (s *serial) run() {
	done := false
	defer func() {
		if !done { // a function has ended its goroutine, as t.FailNow does: the others have theirs called all the same
			go s.run()
		}
	}()
	for next := s.next(); next != nil; next = s.next() {
		next()
	}
	done = true
}

// next takes the first function from the queue; nil where it is empty.
func (s *serial) next() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 {
		s.running = false
		return nil
	}
	next := s.waiting[0]
	s.waiting = s.waiting[1:]
	return next
}
