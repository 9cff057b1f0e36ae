package actors

import "sync"

// lastThings are what has to be done before a session ends at the servers.
type lastThings struct {
	mu      sync.Mutex
	todo    map[int]func()
	newest  int
	running bool
}

// add adds one, and gives the function that takes it out.
func (l *lastThings) add(do func()) (forget func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.todo == nil {
		l.todo = map[int]func(){}
	}
	l.newest++
	id := l.newest
	l.todo[id] = do
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.todo, id)
	}
}

// run does them all, at the same time, and then what follows: at once where there is nothing to do,
// and otherwise later, on a goroutine. While it does, further calls do nothing.
func (l *lastThings) run(then func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.running:
		return
	case len(l.todo) == 0:
		then()
		return
	}
	l.running = true
	var all sync.WaitGroup
	for _, do := range l.todo {
		all.Go(do)
	}
	go func() {
		all.Wait()
		l.mu.Lock()
		l.running = false
		clear(l.todo)
		l.mu.Unlock()
		then()
	}()
}

// BeforeClose has Close call a function, and wait until it returns, before the session ends at the
// servers. A gateway waits there until what it has promised to other nodes has run out. forget
// takes it out again.
//
// A session that ends by itself, or whose actor is stopped, does not wait.
func (s *Session) BeforeClose(do func()) (forget func()) { return s.last.add(do) }
