package rig

import (
	"context"
	"errors"
	"fmt"
	"testing"
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
					if starts > len(c.starts) {
						return fmt.Errorf("start %d", starts)
					}
					return c.starts[starts-1]
				})
			if !errors.Is(err, c.want) {
				t.Errorf("launch gave %v, not %v", err, c.want)
			}
			failed := 0
			for _, err := range c.starts {
				if err != nil {
					failed++
				}
			}
			if starts != len(c.starts) || stopped != failed {
				t.Errorf("%d starts and %d stops, not %d and %d", starts, stopped, len(c.starts), failed)
			}
		})
	}
}
