package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
)

// printer prints each transition of each lock actor in aligned columns.
type printer struct {
	mu        sync.Mutex
	out       io.Writer
	observers []*actor.PID
	system    *actor.ActorSystem
	printing  sync.WaitGroup // observers that have not stopped yet
}

func newPrinter(out io.Writer) *printer {
	p := &printer{out: out}
	fmt.Fprintf(out, "%-15s  %4s  %-23s  %s\n", "time", "lock", "from → to", "why")
	return p
}

// observe spawns an actor that prints what the n-th lock actor goes through.
func (p *printer) observe(system *actor.ActorSystem, n int) *actor.PID {
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
	p.observers, p.system = append(p.observers, observer), system
	return observer
}

func (p *printer) print(n int, t *messages.Transition) {
	why := t.On
	if t.If != "" {
		why += ": " + t.If
	}
	if t.To == messages.StateHeld {
		why += fmt.Sprintf(", token %v", t.Token)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "%s  %4d  %-10v → %-10v  %s\n", t.At.Format("15:04:05.000000"), n, t.From, t.To, why)
}

// flush waits until the observers have printed what they had been sent.
func (p *printer) flush(ctx context.Context) {
	p.mu.Lock()
	for _, observer := range p.observers {
		p.system.Root.Poison(observer)
	}
	p.mu.Unlock()
	printed := make(chan struct{})
	go func() { p.printing.Wait(); close(printed) }()
	select {
	case <-printed:
	case <-ctx.Done():
	}
}
