package interop

import (
	"fmt"
	"strconv"
	"strings"
)

// Claim is a holder's word on a place: with whom it may share it.
type Claim string

const (
	exclusive Claim = "exclusive"
	shared    Claim = "shared"

	permitPrefix = "one-of-"
)

// Exclusive is the claim of a mutex or a writer: nobody else is inside.
func Exclusive() Claim { return exclusive }

// OneOf is the claim of a semaphore's holder: all inside are such holders, and
// they are not more than limit.
func OneOf(limit int) Claim { return Claim(fmt.Sprint(permitPrefix, limit)) }

// permits is the limit of OneOf, and 0 of other claims.
func (c Claim) permits() int {
	number, _ := strings.CutPrefix(string(c), permitPrefix)
	limit, _ := strconv.Atoi(number)
	return limit
}

// known reports whether it is a claim: shared is a reader's, who suffers other readers.
func (c Claim) known() bool { return c == exclusive || c == shared || c.permits() > 0 }

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
func (o *order) overtaken(this arrival, claim Claim) (arrival, bool) {
	before := o.last
	if claim == shared {
		before = o.exclusive
	}
	if o.last.node == "" || this.sequence > o.last.sequence {
		o.last = this
	}
	if claim == exclusive && (o.exclusive.node == "" || this.sequence > o.exclusive.sequence) {
		o.exclusive = this
	}
	return before, before.node != "" && before.sequence >= this.sequence
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
