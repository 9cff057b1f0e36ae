package interop

import "strconv"

// order judges whether holders of one place came in as they stand in the queue. Two readers may come
// in either way round; nobody may overtake a writer, nor a writer anybody.
type order struct {
	last      arrival // the highest sequence number of all who came in
	exclusive arrival // of the holders that were alone
}

// arrival is a holder that came in with a node.
type arrival struct {
	holder, node string
	sequence     int64
}

// overtaken gives the contender that was let in before a new holder and stands behind it in the queue, which
// is wrong. It also takes note of the new one.
func (o *order) overtaken(holder, node string, sequence int64, claim Claim) (arrival, bool) {
	before := o.last
	if claim.kind == shared {
		before = o.exclusive
	}
	this := arrival{holder, node, sequence}
	if o.last.node == "" || sequence > o.last.sequence {
		o.last = this
	}
	if claim.kind == exclusive && (o.exclusive.node == "" || sequence > o.exclusive.sequence) {
		o.exclusive = this
	}
	return before, before.node != "" && before.sequence >= sequence
}

// Sequence gives the number at the end of a sequential node's name or path, which servers write with
// ten digits. It does not call Turnstile's own, which is under test here.
func Sequence(node string) (int64, bool) {
	const digits = 10
	if len(node) < digits {
		return 0, false
	}
	number, err := strconv.ParseUint(node[len(node)-digits:], 10, 63)
	return int64(number), err == nil
}
