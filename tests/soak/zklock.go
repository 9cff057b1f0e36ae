package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/google/uuid"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// zkLock is a client of go-zookeeper's zk.Lock, used as a careful program would use it.
//
// It has no lease: the holder believes that it holds until it calls Unlock, or the event channel says
// that the connection is lost or the session has expired. It has no token: the program takes the czxid of
// its node, which it finds by data of its own, because the node's name is not exported. Lock cannot give
// up. Unlock is tried again after an error that says nothing about the outcome.
//
// A naive program looks at no events, and believes that it holds until it calls Unlock.
type zkLock struct {
	conn  *zk.Conn
	naive bool

	mu     sync.Mutex
	broken chan struct{} // closed while there is no session
	lost   int
}

func openZkLock(ctx context.Context, o options, log *slog.Logger) (peer, error) {
	z := &zkLock{naive: o.peer == peerZkNaive, broken: make(chan struct{})}
	close(z.broken)
	conn, _, err := zk.Connect(strings.Split(o.servers, ","), o.session,
		zk.WithLogger(printer{log}), zk.WithEventCallback(z.event))
	if err != nil {
		return nil, fmt.Errorf("soak: %w", err)
	}
	z.conn = conn
	for isClosed(z.current()) {
		if !rig.Rest(ctx, 10*time.Millisecond) {
			conn.Close()
			return nil, ctx.Err()
		}
	}
	return z, nil
}

// printer gives the library's log to slog.
type printer struct{ to *slog.Logger }

func (p printer) Printf(format string, args ...any) { p.to.Debug(fmt.Sprintf(format, args...)) }

func (z *zkLock) event(event zk.Event) {
	if event.Type != zk.EventSession {
		return
	}
	z.mu.Lock()
	defer z.mu.Unlock()
	switch event.State {
	case zk.StateHasSession:
		if isClosed(z.broken) {
			z.broken = make(chan struct{})
		}
		return
	case zk.StateExpired:
		z.lost++
	case zk.StateDisconnected:
	default:
		return
	}
	if !isClosed(z.broken) {
		close(z.broken)
	}
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (z *zkLock) current() <-chan struct{} {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.broken
}

func (z *zkLock) Lock(_ context.Context, w want) (hold, error) {
	lock := zk.NewLock(z.conn, w.path, zk.WorldACL(zk.PermAll))
	mark := []byte(uuid.NewString())
	if err := lock.LockWithData(mark); err != nil {
		return nil, err
	}
	held := &zkHold{lock: lock, broken: z.current()}
	if z.naive {
		held.broken = nil
	}
	token, err := z.token(w.path, mark)
	if err != nil {
		unlocking, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		return nil, errors.Join(fmt.Errorf("token: %w", err), held.Unlock(unlocking))
	}
	held.token = token
	return held, nil
}

// token finds the node with our mark, which is the first of the queue unless something is wrong.
func (z *zkLock) token(path string, mark []byte) (int64, error) {
	names, _, err := z.conn.Children(path)
	if err != nil {
		return 0, err
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(sequence(a), sequence(b)) })
	for _, name := range names {
		data, stat, err := z.conn.Get(path + "/" + name)
		if err == zk.ErrNoNode {
			continue
		}
		if err != nil {
			return 0, err
		}
		if bytes.Equal(data, mark) {
			return stat.Czxid, nil
		}
	}
	return 0, zk.ErrNoNode
}

// sequence is the number at the end of a name.
func sequence(name string) string { return name[max(0, len(name)-10):] }

func (z *zkLock) SessionsLost() int {
	z.mu.Lock()
	defer z.mu.Unlock()
	return z.lost
}

func (z *zkLock) Polls() int { return 0 }

func (z *zkLock) Close(context.Context) error {
	z.conn.Close()
	return nil
}

// zkHold is a lock that zk.Lock says is held.
type zkHold struct {
	lock   *zk.Lock
	token  int64
	broken <-chan struct{} // nil: nobody looks
}

func (h *zkHold) Token() int64          { return h.token }
func (h *zkHold) Node() string          { return "" }
func (h *zkHold) Valid() bool           { return !isClosed(h.broken) }
func (h *zkHold) Deadline() time.Time   { return time.Time{} }
func (h *zkHold) Done() <-chan struct{} { return h.broken }

func (h *zkHold) Unlock(ctx context.Context) error {
	for tries := 0; ; tries++ {
		err := h.lock.Unlock()
		switch {
		case err == nil, err == zk.ErrNoNode && tries > 0:
			return nil // an earlier try had done it
		case err == zk.ErrNoNode, err == zk.ErrSessionExpired:
			return fmt.Errorf("%w: %w", errLost, err)
		case !rig.Rest(ctx, 100*time.Millisecond):
			return errors.Join(ctx.Err(), err)
		}
	}
}
