package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// ErrNotServing: the server runs, but has no quorum or has not finished starting.
var ErrNotServing = errors.New("rig: server is not serving requests")

// Address is the address of a server, host:port: any server that speaks ZooKeeper's protocol. It
// answers four-letter words.
type Address string

// Address is the server's address, for four-letter words.
func (s *Server) Address() Address { return Address(s.Addr()) }

// Addr is the address as a string.
func (a Address) Addr() string { return string(a) }

// FourLetter sends one of ZooKeeper's four-letter words and returns the answer
// as it came.
func (a Address) FourLetter(ctx context.Context, word string) (string, error) {
	answer, err := fourLetter(ctx, string(a), word)
	if err != nil {
		return "", fmt.Errorf("rig: %s to %s: %w", word, string(a), err)
	}
	return answer, nil
}

func fourLetter(ctx context.Context, addr, word string) (string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	// A paused server accepts and never answers.
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := io.WriteString(conn, word); err != nil {
		return "", errors.Join(err, ctx.Err())
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		return "", errors.Join(err, ctx.Err())
	}
	if strings.Contains(string(answer), "not currently serving requests") {
		return "", ErrNotServing
	}
	return string(answer), nil
}

// Mntr returns the server's metrics by name, such as zk_watch_count.
func (a Address) Mntr(ctx context.Context) (map[string]string, error) {
	answer, err := a.FourLetter(ctx, "mntr")
	if err != nil {
		return nil, err
	}
	metrics := map[string]string{}
	for line := range strings.Lines(answer) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			metrics[name] = value
		}
	}
	return metrics, nil
}

// Watches counts the watches that clients have set on this server.
func (a Address) Watches(ctx context.Context) (int, error) {
	return a.metric(ctx, "zk_watch_count")
}

// Sessions counts the live sessions of the whole ensemble, whichever member is
// asked. On the server that closed it, a closed session is not counted any more
// by the time its client hears of it; other members follow.
func (a Address) Sessions(ctx context.Context) (int, error) {
	return a.metric(ctx, "zk_global_sessions")
}

// Ephemerals counts the ephemeral nodes in this server's copy of the tree.
func (a Address) Ephemerals(ctx context.Context) (int, error) {
	return a.metric(ctx, "zk_ephemerals_count")
}

func (a Address) metric(ctx context.Context, name string) (int, error) {
	metrics, err := a.Mntr(ctx)
	if err != nil {
		return 0, err
	}
	value, err := strconv.Atoi(metrics[name])
	if err != nil {
		return 0, fmt.Errorf("rig: metric %s of %s: %w", name, string(a), err)
	}
	return value, nil
}

// Mode returns standalone, leader, follower or observer, or [ErrNotServing].
func (a Address) Mode(ctx context.Context) (string, error) {
	answer, err := a.FourLetter(ctx, "srvr")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(answer) {
		if mode, ok := strings.CutPrefix(line, "Mode: "); ok {
			return strings.TrimSpace(mode), nil
		}
	}
	return "", ErrNotServing
}
