package main

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeLease is valid until told otherwise.
type fakeLease struct{ over atomic.Bool }

func (f *fakeLease) Valid() bool { return !f.over.Load() }

func TestLedgerFindsOverlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		var a, b fakeLease
		first := l.granted(affected, &a, 20, 0)
		time.Sleep(time.Second)
		second := l.granted(others, &b, 10, 0)
		time.Sleep(time.Second)
		l.look()
		a.over.Store(true)
		time.Sleep(time.Second)
		l.end(first, true)
		l.end(second, false)
		found := l.overlaps()
		require.Len(t, found, 1)
		require.Equal(t, time.Second, found[0].length)
		require.Equal(t, 1, l.disorder())
	})
}

// A hold whose lease was over when the next began does not overlap, however late
// it is given back; nor does a lease that was over when Lock returned.
func TestLedgerNeedsCertainty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		var a, b, c fakeLease
		first := l.granted(affected, &a, 10, 0)
		time.Sleep(time.Second)
		a.over.Store(true)
		second := l.granted(others, &b, 20, 0)
		c.over.Store(true)
		late := l.granted(affected, &c, 5, 0)
		time.Sleep(time.Second)
		l.end(first, true)
		l.end(second, false)
		require.Empty(t, l.overlaps())
		require.Zero(t, l.disorder())
		require.False(t, late.valid())
		require.Equal(t, time.Second, second.until.Sub(second.from))
	})
}

// One common instant counts as an overlap, and a hold that has ended before does not.
func TestLedgerCountsOneInstant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l ledger
		var a, b, c fakeLease
		first := l.granted(affected, &a, 10, 0)
		l.end(first, false)
		time.Sleep(time.Second)
		l.granted(others, &b, 20, 0)
		require.Empty(t, l.overlaps())
		time.Sleep(time.Second)
		l.granted(others, &c, 30, 0)
		found := l.overlaps()
		require.Len(t, found, 1)
		require.Zero(t, found[0].length)
		require.Zero(t, l.disorder())
	})
}
