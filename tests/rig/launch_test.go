package rig

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// serversOnPaper are never started.
type serversOnPaper struct{ stopped *int }

func (s serversOnPaper) Stop() error {
	*s.stopped++
	return nil
}

// Servers that did not come up in time are started anew once, and stopped before that.
func TestLaunchStartsLateServersAnewOnce(t *testing.T) {
	Require(t)
	refused := errors.New("refused")
	for _, c := range []struct {
		name   string
		starts []error // what each start gives
		want   error
	}{
		{"late once", []error{context.DeadlineExceeded, nil}, nil},
		{"late twice", []error{context.DeadlineExceeded, context.DeadlineExceeded}, context.DeadlineExceeded},
		{"another error", []error{refused}, refused},
		{"ports taken, late, ports taken", []error{errPortTaken, context.DeadlineExceeded, errPortTaken, nil}, nil},
		{"ports always taken", []error{errPortTaken, errPortTaken, errPortTaken, errPortTaken, errPortTaken}, errPortTaken},
	} {
		t.Run(c.name, func(t *testing.T) {
			starts, stopped := 0, 0
			_, err := launch(func() (serversOnPaper, error) { return serversOnPaper{&stopped}, nil },
				func(serversOnPaper, context.Context) error {
					starts++
					return c.starts[min(starts, len(c.starts))-1]
				})
			require.ErrorIs(t, err, c.want)
			failed := len(slices.DeleteFunc(slices.Clone(c.starts), func(err error) bool { return err == nil }))
			require.Equal(t, []int{len(c.starts), failed}, []int{starts, stopped}, "starts and stops")
		})
	}
}
