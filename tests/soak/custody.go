package main

// An operator deletes contender nodes while locks are in use. Findings that follow from it are
// judged apart:
//
//   - The node of a lock that is held: its holder learns of it only after the next contender may have been let
//     in. That is the operator's doing, not the library's.
//   - A retained node, which nobody holds: the session that retains it must not grant it again. Two holders, or
//     a smaller token, by such a grant is an error of the library.
//
// Which of the two a delete was is decided by its instants and those of the grants of the node. A grant uses
// its node from when the lock was asked for, and at the earliest from when the one before it on the same node
// was given back. A delete that had returned by then was one of a retained node.

// deletion is one delete by an operator.
type deletion struct {
	node      string
	call, ret int64 // ret is undoneYet while it is under way
	held      bool  // it may have deleted the node of a holder
}

const undoneYet = 1<<63 - 1

// custody says whether an operator has deleted the node of a grant.
type custody uint8

const (
	untouched   custody = iota
	heldBroken          // the node may have been deleted after the grant began to use it
	goneGranted         // it was deleted before that
)

// begins is the earliest instant at which the grant may have begun to use its node.
func (g *grant) begins() int64 {
	if g.before == nil || !g.before.closed {
		return g.from
	}
	return max(g.from, g.before.released)
}

// succeed tells a grant which one was given with the same node before.
func (g *grant) succeed(before *grant) {
	if before != nil {
		g.before = before
		before.from, before.before = before.begins(), nil // lest a node of many grants keeps them all
	}
}

// custody says what was done to the grant's node.
func (l *contended) custody(g *grant) custody {
	for _, d := range l.deletions {
		switch {
		case d.node == "" || d.node != g.node:
		case d.ret < g.begins():
			return goneGranted
		case !g.closed || d.call <= max(g.released, g.end):
			return heldBroken
		}
	}
	return untouched
}

// noteStruck notes which deletes struck holders, and which grants were struck.
func (l *contended) noteStruck(grants []*grant) {
	if len(l.deletions) == 0 {
		return
	}
	for _, g := range grants {
		done := l.custody(g)
		g.struck = done != untouched
		if done != heldBroken {
			continue
		}
		for _, d := range l.deletions {
			d.held = d.held || d.node == g.node
		}
	}
}

// deleting notes that an operator is about to delete a node, and returns what notes that it is done.
func (j *judge) deleting(lock int, node string) (done func(deleted bool)) {
	j.mu.Lock()
	defer j.mu.Unlock()
	l := j.locks[lock]
	d := &deletion{node: node, call: now(), ret: undoneYet}
	l.deletions = append(l.deletions, d)
	return func(deleted bool) {
		j.mu.Lock()
		defer j.mu.Unlock()
		d.ret = now()
		if !deleted {
			d.node = ""
		}
	}
}

// target gives the grant of a node for an operator to delete: one that somebody holds, or one that
// was given back in the last moments by a client that may retain it. ok is false where no such
// grant exists just now.
func (j *judge) target(lock int, held bool) (target grant, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, g := range j.locks[lock].grants {
		switch {
		case g.node == "":
		case !g.closed && held:
			return *g, true
		case !g.closed:
			return grant{}, false
		case !held && g.unlockReturn != 0 && !g.lost:
			target, ok = *g, true
		}
	}
	return target, ok
}

// deletions counts an operator's deletes, with the judge locked.
func (j *judge) deletions() (held, retained int) {
	for _, l := range j.locks {
		l.noteStruck(l.grants)
		for _, d := range l.deletions {
			switch {
			case d.node == "" || d.ret == undoneYet: // not known to have been deleted
			case d.held:
				held++
			default:
				retained++
			}
		}
	}
	return held, retained
}
