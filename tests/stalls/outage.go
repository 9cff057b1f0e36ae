package main

import (
	"strings"

	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/tests/rig"
)

// outage cuts the links of a holder to all members for a part of T, once for each
// trial and at a time of its own; for 0, it leaves them alone. The lease is to live on.
func outage(part float64) func(r *round) error {
	return func(r *round) error {
		links := make([][]*rig.Proxy, len(r.trials))
		clients := make([]*locks.Client, len(r.trials))
		err := r.each(func(i int, _ *trial) error {
			var addrs []string
			for _, member := range r.ensemble.Members() {
				p, err := r.proxy(member)
				if err != nil {
					return err
				}
				links[i] = append(links[i], p)
				addrs = append(addrs, p.Addr())
			}
			var err error
			clients[i], err = r.open(strings.Join(addrs, ","), r.o.timeout)
			return err
		})
		if err != nil {
			return err
		}
		for i, t := range r.trials {
			r.begin(t, contender{side: affected, client: clients[i], keep: r.timeouts(4)})
			after := r.between(1, 1.5) // some heartbeats, and the outage at any time between two
			r.running.Go(func() {
				if pause(r.asking, after) == nil && part > 0 {
					cutOff(links[i], true)
					_ = pause(r.asking, r.timeouts(part))
				}
				cutOff(links[i], false)
			})
		}
		return pause(r.ctx, r.timeouts(2.6+part))
	}
}

// cutOff takes a network down, or up again.
func cutOff(links []*rig.Proxy, down bool) {
	for _, p := range links {
		p.Refuse(down)
		if down {
			p.Cut()
		}
	}
}
