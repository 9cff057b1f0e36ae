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
