package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"
)

// line is a connection that carries one JSON object a line, either way.
type line struct {
	conn net.Conn
	in   *json.Decoder

	mu  sync.Mutex
	out *json.Encoder
}

func newLine(conn net.Conn) *line {
	return &line{conn: conn, in: json.NewDecoder(bufio.NewReader(conn)), out: json.NewEncoder(conn)}
}

func dialLine(addr string) (*line, error) {
	conn, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		return nil, fmt.Errorf("soak: the controller: %w", err)
	}
	return newLine(conn), nil
}

func (l *line) send(message any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Encode(message)
}

func (l *line) receive(message any) error { return l.in.Decode(message) }

func (l *line) close() { _ = l.conn.Close() }
