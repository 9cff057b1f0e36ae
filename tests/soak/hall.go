package main

import (
	"fmt"
	"net"
	"sync"
)

// hall takes the reports of clients.
type hall struct {
	listener net.Listener
	judge    *judge
	subjects []*subject
	talking  sync.WaitGroup

	mu     sync.Mutex
	lines  map[*line]bool
	closed bool
}

func openHall(j *judge) (*hall, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("soak: listen for clients: %w", err)
	}
	return &hall{listener: listener, judge: j, lines: map[*line]bool{}}, nil
}

func (h *hall) addr() string { return h.listener.Addr().String() }

// run takes connections. subjects must not change from here on.
func (h *hall) run(subjects []*subject) {
	h.subjects = subjects
	h.talking.Go(func() {
		for {
			conn, err := h.listener.Accept()
			if err != nil {
				return
			}
			l := newLine(conn)
			h.mu.Lock()
			if h.closed {
				l.close()
			}
			h.lines[l] = true
			h.mu.Unlock()
			h.talking.Go(func() {
				h.listen(l)
				h.mu.Lock()
				defer h.mu.Unlock()
				delete(h.lines, l)
			})
		}
	})
}

// listen hears one connection to its end.
func (h *hall) listen(l *line) {
	defer l.close()
	var first report
	if l.receive(&first) != nil || first.From.Client < 0 || first.From.Client >= len(h.subjects) {
		return
	}
	if first.Kind == kindProcess && !h.subjects[first.From.Client].attach(first.From, l) {
		return
	}
	defer h.judge.gone(first.From)
	for {
		var r report
		if l.receive(&r) != nil {
			return
		}
		switch r.Kind {
		case kindIdle:
			select {
			case h.subjects[r.From.Client].idle <- struct{}{}:
			default:
			}
			continue
		case kindRest:
			select {
			case h.subjects[r.From.Client].counted <- r:
			default:
			}
			continue
		case kindLog:
			select {
			case h.subjects[r.From.Client].log <- r.Detail:
			default:
			}
			continue
		}
		if said := h.judge.hear(r); said != nil && l.send(said) != nil {
			return
		}
	}
}

// close hangs up on everybody and waits until nothing of the hall runs any more.
func (h *hall) close() {
	_ = h.listener.Close()
	h.mu.Lock()
	h.closed = true
	for l := range h.lines {
		l.close()
	}
	h.mu.Unlock()
	h.talking.Wait()
}
