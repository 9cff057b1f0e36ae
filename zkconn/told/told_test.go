package told_test

import (
	"context"
	"log/slog"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/zkconn/told"
)

// TestQueue: values come in order, whatever becomes of those before them. What has no room is dropped, and counted with
// those whose handler panics or ends its goroutine.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		var got []int
		q := told.NewQueue(3, func(n int) {
			switch n {
			case 0:
				<-stuck
			case 1:
				panic("one")
			case 2:
				runtime.Goexit()
			}
			got = append(got, n)
		}, nil)
		require.True(t, q.Wait(t.Context()), "there is nothing")
		q.Tell(0)
		synctest.Wait()
		for n := range 4 {
			q.Tell(n + 1)
		}
		require.Equal(t, int64(1), q.Untold())
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.False(t, q.Wait(soon))
		close(stuck)
		require.True(t, q.Wait(t.Context()))
		require.Equal(t, []int{0, 3}, got)
		require.Equal(t, int64(3), q.Untold())
		for n := range 1000 {
			q.Tell(n + 5)
			require.True(t, q.Wait(t.Context()))
		}
		require.Len(t, got, 1002)
	})
}

// TestOffer: what is offered has a bound of its own, also in a queue without one.
func TestOffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		var got []int
		q := told.NewQueue(0, func(n int) {
			<-stuck
			got = append(got, n)
		}, nil)
		q.Tell(0)
		synctest.Wait()
		for n := range 9 {
			q.Offer(n+1, 3)
		}
		q.Tell(10)
		close(stuck)
		require.True(t, q.Wait(t.Context()))
		require.Equal(t, []int{0, 1, 2, 3, 10}, got)
		require.Equal(t, int64(6), q.Untold())
	})
}

// TestClosing: a Close without a deadline waits for a second.
func TestClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := make(chan struct{})
		q := told.NewCalls(0, nil)
		q.Tell(func() { <-stuck })
		ctx, cancel := told.Closing(context.Background())
		defer cancel()
		begun := time.Now()
		require.False(t, q.Wait(ctx))
		require.Equal(t, time.Second, time.Since(begun))
		close(stuck)
	})
}

// lines is a log handler that keeps messages with their first attribute, and panics where it is asked for a group.
type lines struct {
	all   *[]string
	attrs string
}

func (lines) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }
func (l lines) WithAttrs(attrs []slog.Attr) slog.Handler {
	return lines{l.all, l.attrs + attrs[0].String()}
}
func (lines) WithGroup(string) slog.Handler { panic("group") }
func (l lines) Handle(_ context.Context, r slog.Record) error {
	*l.all = append(*l.all, r.Message+" "+l.attrs)
	return nil
}

// TestLog: records come with their attributes, and levels that are off cost nothing.
func TestLog(t *testing.T) {
	var all []string
	log := told.NewLog()
	to := log.Logger(slog.New(lines{all: &all}))
	to.Debug("off")
	to.With("a", 1).Info("first")
	to.WithGroup("g").Info("second")
	require.Same(t, to, told.NewLog().Logger(to), "it has a queue")
	require.True(t, log.Wait(t.Context()))
	require.Equal(t, []string{"first a=1", "second "}, all)
	require.Equal(t, int64(1), log.Untold())
}

// BenchmarkTell measures a value that is told.
func BenchmarkTell(b *testing.B) {
	q := told.NewQueue(told.Most, func(int) {}, nil)
	b.ReportAllocs()
	for b.Loop() {
		q.Tell(1)
	}
}
