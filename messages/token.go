package messages

import (
	"errors"
	"fmt"
	"strconv"
)

// Token is a fencing token: of two grants of one exclusive lock path, the later has the greater
// token, across sessions, servers, leader changes and re-creation of the lock path. A resource that
// refuses tokens smaller than the greatest it has seen is safe from a holder that has lost the lock
// unawares.
//
// It is the czxid of the contender's node, and a place: among the creates of one transaction, and
// the next places for later grants of the same node:
//
//	czxid << 10 | place
//
// The order breaks when the whole ensemble is wiped or restored from a backup, because zxids start
// again. Put an epoch of your own before it where that may happen.
type Token int64

const placeBits = 10

// MaxPlace is the greatest place in a token.
const MaxPlace = 1<<placeBits - 1

const maxZxid = 1<<(63-placeBits) - 1

// ErrTokenRange: a zxid or a place does not fit.
var ErrTokenRange = errors.New("turnstile: out of the range of a fencing token")

// NewToken makes the token of the node with this czxid that was the place-th create of its
// transaction, from 0. It returns ErrTokenRange when czxid is not in [1, 2^53-1] or place not in
// [0, MaxPlace].
func NewToken(czxid int64, place int) (Token, error) {
	if czxid < 1 || czxid > maxZxid || place < 0 || place > MaxPlace {
		return 0, fmt.Errorf("zxid 0x%x, place %d: %w", czxid, place, ErrTokenRange)
	}
	return Token(czxid<<placeBits | int64(place)), nil
}

// Zxid gives the czxid of the contender's node.
func (t Token) Zxid() int64 { return int64(t) >> placeBits }

// Place gives the place among the creates of one transaction.
func (t Token) Place() int { return int(t & MaxPlace) }

// String gives the token as a decimal number.
func (t Token) String() string { return strconv.FormatInt(int64(t), 10) }
