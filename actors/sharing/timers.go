package sharing

import (
	"time"

	"github.com/turnstile-locks/turnstile/actors/turns"
)

func (c *Calls) setTimer(o *turns.Output) {
	var of **time.Timer
	if e := c.entry(o.Call); e == nil {
		of = &c.holds[o.Hold].timer // also where its lock actor is ending, and is to be spawned anew
	} else if of = &e.timer; e.hold != nil && e.hold.want.Grace > 0 {
		return // its lock actor has the timer
	}
	call, hold := o.Call, o.Hold
	if *of != nil {
		(*of).Stop()
	}
	*of = time.AfterFunc(o.Deadline-time.Since(c.base), func() {
		m := c.begin()
		if call != 0 {
			c.turns.CallTimer(m, call)
		} else {
			c.turns.HoldTimer(m, hold)
		}
		c.settle()
	})
}
