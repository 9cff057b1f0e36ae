package locks

import "sync"

// serial calls functions one after the other, on a goroutine that lives while there are any.
type serial struct {
	mu      sync.Mutex
	waiting []func()
	running bool
}

// tell has a function called behind all that came before it. It does not wait.
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
	for {
		s.mu.Lock()
		if len(s.waiting) == 0 {
			s.running = false
			s.mu.Unlock()
			return
		}
		next := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.mu.Unlock()
		next()
	}
}
