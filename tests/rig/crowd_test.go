package rig

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"time"
)

// Once a crowd is silent its sessions expire, each with a line in the log, at the pace at which the log is read.
func TestACrowdExpiresAtTheLogsPace(t *testing.T) {
	server := StartStandalone(t, WithLogOfExpiries())
	const sessions, lines, timeout = 150, 100, 2 * time.Second
	crowd, err := OpenCrowd(t.Context(), []string{server.Addr()}, sessions, timeout)
	defer crowd.Leave()
	if err != nil {
		t.Fatal(err)
	}
	if crowd.Timeout() != timeout {
		t.Errorf("granted %v", crowd.Timeout())
	}
	server.SlowLog(lines)
	if err := crowd.FallSilent(); err != nil {
		t.Fatal(err)
	}
	expiries := regexp.MustCompile(`(?m)^(\S+) .*Expiring session`)
	var logged [][]string
	eventually(t, "all have expired", func() bool {
		logged = expiries.FindAllStringSubmatch(server.Log(), -1)
		return len(logged) == sessions
	})
	instant := func(line int) time.Time {
		at, err := time.Parse("15:04:05.000", logged[line][1])
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	took := (instant(sessions-1).Sub(instant(0)) + 24*time.Hour) % (24 * time.Hour)
	const unread = 75 // lines that a pipe of one page holds, and one piece of it, at most
	if took < (sessions-unread)*time.Second/lines {
		t.Errorf("%d lines in %v, at %d a second", sessions, took, lines)
	}
}

// A session is opened anew by its password only.
func TestOpenSession(t *testing.T) {
	server := shared(t)
	_, _, err := OpenSession(t.Context(), server.Addr(), time.Second, 7, make([]byte, passwordLength))
	if !errors.Is(err, ErrNoSession) {
		t.Errorf("a session that never was: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, _, err := OpenSession(ended, server.Addr(), time.Second, 0, make([]byte, passwordLength)); err == nil {
		t.Error("a session after the end")
	}
}
