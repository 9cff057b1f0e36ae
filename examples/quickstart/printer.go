package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/turnstile-locks/turnstile/messages"
)

// printer prints each transition of each worker's requests in aligned columns.
type printer struct {
	mu        sync.Mutex
	out       io.Writer
	observers sync.WaitGroup
}

func newPrinter(out io.Writer) *printer {
	p := &printer{out: out}
	fmt.Fprintf(out, "%-15s  %-6s  %-23s  %s\n", "time", "worker", "from → to", "why")
	return p
}

// observe spawns an actor that prints what one worker's lock actors go through.
func (p *printer) observe(system *actor.ActorSystem, worker int) *actor.PID {
	p.observers.Add(1)
	return system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		switch msg := ctx.Message().(type) {
		case *messages.Transition:
			p.print(worker, msg)
		case *actor.Stopped:
			p.observers.Done()
		}
	}))
}

func (p *printer) print(worker int, t *messages.Transition) {
	why := t.On
	if t.If != "" {
		why += ": " + t.If
	}
	if t.To == messages.StateHeld {
		why += fmt.Sprintf(", token %v", t.Token)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, "%s  %6d  %-10v → %-10v  %s\n", t.At.Format("15:04:05.000000"), worker, t.From, t.To, why)
}

// flush waits until the observers, which were poisoned, have printed what they had been sent.
func (p *printer) flush(ctx context.Context) {
	printed := make(chan struct{})
	go func() { p.observers.Wait(); close(printed) }()
	select {
	case <-printed:
	case <-ctx.Done():
	}
}
