package machine_test

import (
	"fmt"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// A request that finds somebody before it, waits, and holds when that one is gone.
func ExampleMachine_Step() {
	m := machine.New(&messages.Acquire{})
	position, shown := queue.Find([]string{"_c_b-lock-0000000001", "_c_a-lock-0000000000"}, "_c_b-lock-0000000001", 0)
	for _, ev := range []machine.Event{
		{Kind: machine.Begin},
		{Kind: machine.Created, Op: 1, Node: "_c_b-lock-0000000001", Token: 7168},
		machine.ListedEvent(2, position, shown),
		{Kind: machine.TurnCame, Op: 3, Lease: true},
	} {
		effects, _ := m.Step(ev)
		fmt.Println(ev.Kind, "→", m.State, effects.All())
	}
	// Output:
	// Begin → creating [StartTimeout Create op=1]
	// Created → listing [List op=2]
	// Listed → watching [Watch op=3 _c_a-lock-0000000000]
	// TurnCame → held [WatchOwn op=4 _c_b-lock-0000000001 TellHeld]
}
