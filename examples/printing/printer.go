// Package printing prints what lock actors go through, for the examples quickstart and actors.
package printing

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
)

// Printer prints each transition of those that it observes, in aligned columns.
type Printer struct {
	mu        sync.Mutex
	out       io.Writer
	observers []func() // each stops one
	printing  sync.WaitGroup
}

// New prints the names of the columns; who is the one for those that it observes.
func New(out io.Writer, who string) *Printer {
	fmt.Fprintf(out, "%-15s  %6s  %-23s  %s\n", "time", who, "from → to", "why")
	return &Printer{out: out}
}

// Observe spawns an actor that prints what the lock actors of the n-th go through: see locks.WithObserver.
func (p *Printer) Observe(system *actor.ActorSystem, n int) *actor.PID {
	p.printing.Add(1)
	observer := system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *messages.Transition:
			p.print(n, msg)
		case *actor.Stopped:
			p.printing.Done()
		}
	}))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.observers = append(p.observers, func() { system.Root.Poison(observer) })
	return observer
}

func (p *Printer) print(n int, t *messages.Transition) {
	why := t.On
	if t.If != "" {
		why += ": " + t.If
	}
	if t.To == messages.StateHeld {
		why += fmt.Sprintf(", token %v", t.Token)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "%s  %6d  %-10v → %-10v  %s\n", t.At.Format("15:04:05.000000"), n, t.From, t.To, why)
}

// Flush waits until the observers have printed what they had been sent.
func (p *Printer) Flush(ctx context.Context) {
	p.mu.Lock()
	for _, stop := range p.observers {
		stop()
	}
	p.mu.Unlock()
	printed := make(chan struct{})
	go func() { p.printing.Wait(); close(printed) }()
	select {
	case <-printed:
	case <-ctx.Done():
	}
}
