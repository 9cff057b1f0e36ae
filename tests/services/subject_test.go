package services

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/patient"
)

// over is the last report of a script that has ended.
const over = "over"

// subject is a script that runs, here or in a process, as its test sees it.
type subject struct {
	end func() // tells it to end

	mu      sync.Mutex
	heard   []string
	tokens  []locks.Token // of its grants
	session int64         // of the newest
	member  string        // of a group: the ID that it joined with
	news    chan struct{} // closed and replaced when it says something
}

func newSubject() *subject { return &subject{news: make(chan struct{})} }

// say notes what the script says.
func (s *subject) say(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch what, rest, _ := strings.Cut(line, " "); what {
	case "holds":
		token, session, _ := strings.Cut(rest, " ")
		s.tokens, s.session = append(s.tokens, locks.Token(number(token))), number(session)
		line = what
	case "joined":
		s.member, line = rest, what
	}
	s.heard = append(s.heard, line)
	close(s.news)
	s.news = make(chan struct{})
}

// await waits until it has said so much.
func (s *subject) await(t *testing.T, lines ...string) {
	t.Helper()
	ctx := patient.Deadline(t)
	for {
		heard, news := s.all()
		if len(heard) >= len(lines) {
			require.Equal(t, lines, heard[:len(lines)])
			return
		}
		select {
		case <-news:
		case <-ctx.Done():
			t.Fatalf("it has said %q, and not %q", heard, lines)
		}
	}
}

// until waits for a line, and gives all up to it.
func (s *subject) until(t *testing.T, line string) []string {
	t.Helper()
	ctx := patient.Deadline(t)
	for {
		heard, news := s.all()
		if at := slices.Index(heard, line); at >= 0 {
			return heard[:at+1]
		}
		select {
		case <-news:
		case <-ctx.Done():
			t.Fatalf("it has said %q, and not %q", heard, line)
		}
	}
}

func (s *subject) all() ([]string, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.heard...), s.news
}

func (s *subject) token() locks.Token {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens[len(s.tokens)-1]
}

func (s *subject) grants() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.tokens)
}

// here starts a script in this process.
func here(t *testing.T, client *locks.Client, o order) *subject {
	t.Helper()
	s, end := newSubject(), make(chan struct{})
	s.end = sync.OnceFunc(func() { close(end) })
	ctx, ended := context.Background(), make(chan struct{})
	go func() {
		defer close(ended)
		scripts[o.Ability](ctx, client, o, s.say, end)
		s.say(over)
	}()
	t.Cleanup(func() {
		s.end()
		if !t.Failed() { // otherwise it may never end until its client is closed
			<-ended
		}
	})
	return s
}
