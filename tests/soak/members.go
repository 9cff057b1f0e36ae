package main

import (
	"fmt"
	"time"

	"github.com/turnstile-locks/turnstile/tests/rig"
)

// tick is the servers' tick, as package rig sets it.
const tick = 200 * time.Millisecond

// timeoutsDiffer reports whether members allow different session timeouts, so that a client that moves between them
// is granted a shorter or a longer one.
func (o options) timeoutsDiffer() bool {
	return len(chosen([]fault{{name: clientMoves}}, o.faults)) > 0
}

// ensemble gives the configuration of the members.
func (o options) ensemble() []rig.Option {
	all := []rig.Option{
		rig.WithLogOfExpiries(),
		// A member that does not answer is given up sooner than the rig would: more elections an hour.
		rig.WithSystemProperty("zookeeper.cnxTimeout", "1000"),
		rig.WithConfig("initLimit", "20"),
		// Two session timeouts: then a session can expire behind a link that stalls, while its server and the leader
		// still take each other for connected.
		rig.WithConfig("syncLimit", fmt.Sprint(max(10, int(2*o.session/tick)))),
	}
	if o.timeoutsDiffer() {
		all = append(all,
			rig.WithMember(1, rig.WithMaxSessionTimeout(max(o.session*4/10, 2*tick))),
			rig.WithMember(2, rig.WithMinSessionTimeout(o.longestTimeout())))
	}
	return all
}

// longestTimeout is the longest session timeout that a member grants.
func (o options) longestTimeout() time.Duration {
	if o.timeoutsDiffer() {
		return min(2*o.session, time.Minute)
	}
	return o.session
}
