package main

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// The words of a board. The holder of each lock follows: the number of a requester, from 1, or 0 for nobody.
const (
	boardStop    = iota // not 0: everybody is to end
	boardArrived        // how many requesters have held
	boardGrants         // how many grants there were
	boardBroken         // not 0: a lock has let in two
	boardHolders
)

// board is memory that several processes share: it finds out when two hold a lock at once, and counts the grants.
type board struct {
	page  []byte
	words []int64
}

// openBoard opens the board in a file, for so many locks.
func openBoard(file string, locks int) (*board, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("bench: board: %w", err)
	}
	defer func() { _ = f.Close() }()
	size := (boardHolders + locks) * int(unsafe.Sizeof(int64(0)))
	if err := f.Truncate(int64(size)); err != nil {
		return nil, fmt.Errorf("bench: board: %w", err)
	}
	page, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("bench: map the board: %w", err)
	}
	return &board{page, unsafe.Slice((*int64)(unsafe.Pointer(&page[0])), boardHolders+locks)}, nil
}

func (b *board) close() error             { return syscall.Munmap(b.page) }
func (b *board) load(word int) int64      { return atomic.LoadInt64(&b.words[word]) }
func (b *board) store(word int, to int64) { atomic.StoreInt64(&b.words[word], to) }

// enter is called by a requester that was granted a lock, leave right before it gives that back.
func (b *board) enter(lock int, me int64) { b.pass(lock, 0, me) }
func (b *board) leave(lock int, me int64) {
	atomic.AddInt64(&b.words[boardGrants], 1)
	b.pass(lock, me, 0)
}

func (b *board) pass(lock int, from, to int64) {
	if !atomic.CompareAndSwapInt64(&b.words[boardHolders+lock], from, to) {
		b.store(boardBroken, 1)
	}
}

// arrive is called by a requester that holds for the first time.
func (b *board) arrive() { atomic.AddInt64(&b.words[boardArrived], 1) }
