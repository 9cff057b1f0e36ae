package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// fleet is all clients, and the relays before their servers.
type fleet struct {
	timeout time.Duration
	counts  *counts
	relays  []*relay
	members []*member
	system  *actor.ActorSystem
	stop    context.CancelFunc // of the work of the members
	doing   sync.WaitGroup
}

// member is one client.
type member struct {
	number int
	client *locks.Client

	mu    sync.Mutex
	lease *locks.Lease // the newest; nil without
	had   time.Time    // when that was granted
}

// openAtOnce bounds how many clients are being opened.
const openAtOnce = 64

// openTimeout bounds how long all may take.
const openTimeout = 5 * time.Minute

// errNotOpened: the servers gave some clients no session in time.
var errNotOpened = errors.New("clients could not be opened")

// openFleet opens so many clients, with servers at these addresses. delay is the delay in each
// direction; relayed: there are relays.
func openFleet(ctx context.Context, clients int, addrs []string, timeout, delay time.Duration, relayed bool) (f *fleet, err error) {
	silent := func(*actor.ActorSystem) *slog.Logger { return slog.New(slog.DiscardHandler) }
	f = &fleet{timeout: timeout, counts: &counts{}, system: actor.NewActorSystem(actor.WithLoggerFactory(silent)), stop: func() {}}
	if relayed {
		for i, addr := range addrs {
			r, err := newRelay(addr, delay, f.counts)
			if err != nil {
				return f, err
			}
			f.relays = append(f.relays, r)
			addrs[i] = r.addr
		}
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	f.members = make([]*member, clients)
	errs := make([]error, clients)
	slots := make(chan struct{}, openAtOnce)
	var opening sync.WaitGroup
	for i := range clients {
		slots <- struct{}{}
		opening.Go(func() {
			defer func() { <-slots }()
			f.members[i] = &member{number: i}
			f.members[i].client, errs[i] = locks.Open(ctx, strings.Join(addrs, ","), locks.WithActorSystem(f.system),
				locks.WithSessionTimeout(timeout), locks.WithDialer(f.dial))
		})
	}
	opening.Wait()
	failed := slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(failed) > 0 {
		return f, fmt.Errorf("%d of %d %w, the first: %w", len(failed), clients, errNotOpened, failed[0])
	}
	return f, nil
}

// dial counts.
func (f *fleet) dial(ctx context.Context, network, address string) (net.Conn, error) {
	f.counts.dials.Add(1)
	return new(net.Dialer).DialContext(ctx, network, address)
}

// down begins an outage of all servers.
func (f *fleet) down() {
	for _, r := range f.relays {
		r.down()
	}
}

// up ends it.
func (f *fleet) up() error {
	errs := make([]error, len(f.relays))
	for i, r := range f.relays {
		errs[i] = r.up()
	}
	return errors.Join(errs...)
}

// close ends everything. It returns no error for clients whose sessions are over, but one for each client whose waiters
// found by listing the queue again, after a session timeout, what no event had told them.
func (f *fleet) close(ctx context.Context) error {
	f.stop()
	f.doing.Wait()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	err := f.eachOf(func(m *member) error {
		if m == nil || m.client == nil {
			return nil
		}
		_ = m.client.Close(ctx)
		if relisted := m.client.Session().Counters().Polls; relisted > 0 {
			return fmt.Errorf("cost: %d times a waiter of client %d found by listing again what no event had told it", relisted, m.number)
		}
		return nil
	})
	for _, r := range f.relays {
		r.close()
	}
	f.system.Shutdown()
	return err
}

// eachOf does something with all members at the same time.
func (f *fleet) eachOf(do func(m *member) error) error {
	errs := make([]error, len(f.members))
	var all sync.WaitGroup
	for i, m := range f.members {
		all.Go(func() { errs[i] = do(m) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// sessions gives the session of each member.
func (f *fleet) sessions() []int64 {
	ids := make([]int64, len(f.members))
	for i, m := range f.members {
		ids[i] = m.client.State().ID
	}
	return ids
}

// pollEvery is the pause between two looks, and so the precision of ends. A thousand clients are
// asked each time.
const pollEvery = 20 * time.Millisecond

// until waits until something is so of all members, for at most a while. It gives how many it is not so of.
func (f *fleet) until(ctx context.Context, atMost time.Duration, so func(m *member) bool) (missing int) {
	limit := time.Now().Add(atMost)
	for {
		missing = 0
		for _, m := range f.members {
			if !so(m) {
				missing++
			}
		}
		if missing == 0 || time.Now().After(limit) || !rig.Rest(ctx, pollEvery) {
			return missing
		}
	}
}

func connected(m *member) bool { return m.client.State().Phase == "connected" }

// hold has each member hold a lock of its own. Where its lease is lost, it locks again, as a program would.
func (f *fleet) hold(ctx context.Context) {
	ctx, f.stop = context.WithCancel(ctx)
	for _, m := range f.members {
		f.doing.Go(func() {
			for ctx.Err() == nil {
				lease, err := m.client.Mutex(fmt.Sprintf("/cost/%d", m.number)).Lock(ctx)
				if err != nil {
					rig.Rest(ctx, pollEvery)
					continue
				}
				m.set(lease)
				select {
				case <-lease.Context().Done():
				case <-ctx.Done():
					_ = lease.Unlock(context.WithoutCancel(ctx))
				}
			}
		})
	}
}

func (m *member) set(lease *locks.Lease) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lease, m.had = lease, time.Now()
}

// holds reports whether the member has a lease that was granted or renewed since.
func (m *member) holds(since, deadline time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lease == nil || m.lease.Context().Err() != nil {
		return false
	}
	return m.had.After(since) || m.lease.Deadline().After(deadline)
}

// deadline is the deadline of the lease; zero without a lease.
func (m *member) deadline() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.lease == nil {
		return time.Time{}
	}
	return m.lease.Deadline()
}

// lockOnce has each member take a lock of its own and give it back.
func (f *fleet) lockOnce(ctx context.Context) error {
	return f.eachOf(func(m *member) error {
		lease, err := m.client.Mutex(fmt.Sprintf("/cost/%d", m.number)).Lock(ctx)
		if err != nil {
			return err
		}
		return lease.Unlock(ctx)
	})
}

// printer writes lines, as soon as there is something.
type printer struct{ to io.Writer }

func (p printer) line(format string, args ...any) { _, _ = fmt.Fprintf(p.to, format+"\n", args...) }
