package mistakes

// DoubtForgotten takes a create of unknown outcome for one that made nothing: where it did make a node, that node stays
// for as long as the session lives, and nobody is granted the lock behind it. A request makes a second node, or ends.
// (CreateForgotten and DeleteForgotten are made up for by the other half of the clean-up as long as the actors of
// requests end in order, as they do in a soak.)
var DoubtForgotten = Mistake{
	Name: "doubt-forgotten",
	What: "a create of unknown outcome is taken for one that made nothing",
	Edits: []Edit{{
		Package: rules,
		Old:     "\t\tc.park(r, machine.Effect{Do: machine.Verify, Op: op})\n",
		New: "\t\tc.park(r, machine.Effect{Do: machine.Verify, Op: op})\n" +
			"\tcase r.node.phase == unknown:\n\t\tr.node.phase = absent\n" +
			"\t\tc.tell(r, machine.Event{Kind: machine.Found, Op: op})\n",
	}},
}

// ThrottledFails has a request fail that a server throttles for long, in place of sending it again.
var ThrottledFails = Mistake{
	Name: "throttled-fails",
	What: "that a request was throttled is taken for the servers' last word",
	Edits: []Edit{{
		Package: "zkconn",
		Old:     "ErrThrottled, Deferred, 0",
		New:     "ErrThrottled, Refused, 0",
	}},
}

// PausesEndless has the pause of an order that the servers have hung up on twice last for an hour.
var PausesEndless = Mistake{
	Name: "pauses-endless",
	What: "what the servers have hung up on twice is not sent again for an hour",
	Edits: []Edit{{
		Package: rules,
		Old:     "p.timer = c.after(pause, timer{kind: PauseTimer",
		New:     "p.timer = c.after(pause+time.Hour, timer{kind: PauseTimer",
	}},
}

// NeverGivenUp has a client ask for its old session for ever, also once its leases have ended.
// Servers whose data were wiped or restored refuse clients that have seen a newer transaction than
// theirs.
var NeverGivenUp = Mistake{
	Name: "never-given-up",
	What: "a session that no server renews is never given up",
	Edits: []Edit{{
		Package: "zkconn/lease",
		Old:     "if !k.up && now >= ends {",
		New:     "if !k.up && now >= ends && k.stage == proving {",
	}, {
		Package: "zkconn/lease",
		Old:     "tell = append(tell, k.Broken)",
		New:     "_ = k.Broken",
	}, quietTimer},
}

// Soak gives the mistakes that only the soak finds.
func Soak() []Mistake { return []Mistake{DoubtForgotten, ThrottledFails, PausesEndless, NeverGivenUp} }
