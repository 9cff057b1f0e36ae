package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/turnstile-locks/turnstile/locks"
)

// lock takes a worker's lock.
type lock func(ctx context.Context) (*locks.Lease, error)

// work has a worker lock again and again: it holds for a while and rests for a while, each for 0.5
// to 1.5 times the given duration.
func (s *Scene) work(take lock, hold, rest time.Duration) {
	s.workers.Go(func() {
		for s.ctx.Err() == nil {
			lease, err := take(s.ctx)
			if err != nil {
				s.pause(s.ctx, rest+time.Millisecond)
				continue
			}
			s.hold(lease, about(hold))
			s.pause(s.ctx, about(rest))
		}
	})
}

// hold keeps a lease for a while, or until somebody sends a revoke request, and gives it back.
func (s *Scene) hold(lease *locks.Lease, d time.Duration) {
	select {
	case <-lease.Context().Done():
	case <-lease.Revoked():
		s.pause(lease.Context(), 800*time.Millisecond) // it finishes what it is at
	case <-s.ctx.Done():
	case <-time.After(d):
	}
	giving, cancel := context.WithTimeout(context.Background(), sessionTimeout)
	defer cancel()
	_ = lease.Unlock(giving)
}

func (s *Scene) pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func about(d time.Duration) time.Duration {
	return d/2 + rand.N(d+1)
}

// shop is locks of several paces.
func (s *Scene) shop() {
	grace := locks.WithGrace(10 * time.Second)
	for n := range 6 {
		label := locks.WithLabel(fmt.Sprintf("picker %d", n+1))
		s.work(s.client(n).Mutex("/shop/orders/42", label, grace).Lock, 2*time.Second, time.Second)
	}
	for n := range 2 {
		label := locks.WithLabel(fmt.Sprintf("packer %d", n+1))
		s.work(s.client(n).Mutex("/shop/orders/43", label, grace).Lock, 3*time.Second, 4*time.Second)
	}
	for n := range 8 {
		label := locks.WithLabel(fmt.Sprintf("till %d", n+1))
		s.work(s.client(n).Mutex("/shop/receipts", label, grace).Lock, 5*time.Millisecond, 20*time.Millisecond)
	}
	for n := range 5 {
		stock := s.client(n).RWMutex("/shop/stock", locks.WithLabel(fmt.Sprintf("shelf reader %d", n+1)), grace)
		s.work(stock.RLock, 1500*time.Millisecond, 2*time.Second)
	}
	for n := range 2 {
		stock := s.client(n).RWMutex("/shop/stock", locks.WithLabel(fmt.Sprintf("stock writer %d", n+1)), grace)
		s.work(stock.Lock, time.Second, 5*time.Second)
	}
	for n := range 4 {
		label := locks.WithLabel(fmt.Sprintf("nightly invoices, try %d", n+1))
		s.work(s.client(n).Mutex("/shop/invoices/run", label, grace).Lock, 5*time.Minute, time.Second)
	}
}

// media is permits, and a contest.
func (s *Scene) media() {
	for n := range 8 {
		transcode := s.client(n).Semaphore("/media/transcode", 3, locks.WithLabel(fmt.Sprintf("encoder %d", n+1)),
			locks.WithGrace(10*time.Second))
		take := func(ctx context.Context) (*locks.Lease, error) { return transcode.Acquire(ctx, 1) }
		s.work(take, 4*time.Second, time.Second)
	}
	for n := range 9 { // three of each process: one with a node, the others without
		label := locks.WithLabel(fmt.Sprintf("resizer %d", n+1))
		s.work(s.client(n).Mutex("/media/thumbnails", label, locks.WithCohort(3)).Lock, 2*time.Second, time.Second)
	}
	for n := range 2 {
		label := locks.WithLabel(fmt.Sprintf("scheduler %d", n+1))
		s.work(s.client(n).Contest("/media/scheduler", label).Lock, 40*time.Second, 2*time.Second)
	}
}

// bank is two tellers who take two accounts in opposite orders. The one that came last gives up after a while.
func (s *Scene) bank() {
	const one, other = "/bank/accounts/1", "/bank/accounts/2"
	for n, accounts := range [][2]string{{one, other}, {other, one}} {
		label := locks.WithLabel(fmt.Sprintf("teller %d", n+1))
		client := s.client(n)
		s.workers.Go(func() {
			for s.ctx.Err() == nil {
				s.transfer(client, accounts, label)
				s.pause(s.ctx, 3*time.Second)
			}
		})
	}
}

// transfer takes one account, and then the other within it.
func (s *Scene) transfer(client *locks.Client, accounts [2]string, label locks.LockOption) {
	first, err := client.Mutex(accounts[0], label).Lock(s.ctx)
	if err != nil {
		return
	}
	defer s.hold(first, 0)
	s.pause(s.ctx, time.Second)
	within, cancel := context.WithCancel(first.Context())
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()
	second, err := client.Mutex(accounts[1], label, locks.WithDeadlockDetection("/bank", 45*time.Second)).Lock(within)
	if err != nil {
		return
	}
	s.hold(second, time.Second)
}

// gather has a crowd wait for one lock, and move.
func (s *Scene) gather(size int) error {
	crowd, err := NewCrowd(s.server.Addr(), "/tickets/counter", size)
	if err != nil {
		return err
	}
	s.workers.Go(func() {
		defer crowd.Close()
		for s.ctx.Err() == nil {
			s.pause(s.ctx, about(900*time.Millisecond))
			if s.ctx.Err() == nil && crowd.Pass() != nil {
				return
			}
		}
	})
	return nil
}
