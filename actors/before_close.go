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

// run does them all, at the same time, and those that are added meanwhile, and then what follows: at
// once where there is nothing to do, and otherwise later, on a goroutine. While it does, further
// calls do nothing.
func (l *lastThings) run(then func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.running {
		l.next(then)
	}
}

// some tells whether there is anything to do, or something is being done.
func (l *lastThings) some() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.running || len(l.todo) > 0
}

// next is one round; l.mu is held.
func (l *lastThings) next(then func()) {
	todo := l.todo
	l.todo, l.running = nil, len(todo) > 0
	if !l.running {
		then()
		return
	}
	go func() {
		var all sync.WaitGroup
		for _, do := range todo {
			all.Go(do)
		}
		all.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.next(then)
	}()
}

// BeforeClose has Close call a function, and wait until it returns, before the session ends at the
// servers. A gateway waits there until what it has promised to other nodes has run out. forget
// removes the function again.
//
// A session that ends by itself, or whose actor is stopped, does not wait. A session that is given
// up because a node may not be deleted, or because a server handed out another, is left to expire,
// while another begins.
func (s *Session) BeforeClose(do func()) (forget func()) { return s.last.add(do) }
