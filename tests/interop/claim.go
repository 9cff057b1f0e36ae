package interop

import (
	"fmt"
	"strconv"
	"strings"
)

// Claim is a holder's word on a place: with whom it may share it.
type Claim struct {
	kind claimKind
	max  int // of a permit: how many holders at most
}

type claimKind int

const (
	exclusive claimKind = iota + 1
	shared
	permit
)

// Exclusive is the claim of a mutex or a writer: nobody else is inside.
func Exclusive() Claim { return Claim{kind: exclusive} }

// Shared is the claim of a reader: all others inside are readers, too.
func Shared() Claim { return Claim{kind: shared} }

// OneOf is the claim of a semaphore's holder: all inside are such holders, and
// they are not more than limit.
func OneOf(limit int) Claim { return Claim{kind: permit, max: limit} }

const permitPrefix = "one-of-"

// ParseClaim reads what [Claim.String] writes.
func ParseClaim(text string) (Claim, error) {
	switch text {
	case "exclusive":
		return Exclusive(), nil
	case "shared":
		return Shared(), nil
	}
	if number, ok := strings.CutPrefix(text, permitPrefix); ok {
		if limit, err := strconv.Atoi(number); err == nil && limit > 0 {
			return OneOf(limit), nil
		}
	}
	return Claim{}, fmt.Errorf("interop: %q is no claim", text)
}

// String returns exclusive, shared or one-of-N.
func (c Claim) String() string {
	switch c.kind {
	case exclusive:
		return "exclusive"
	case shared:
		return "shared"
	case permit:
		return permitPrefix + strconv.Itoa(c.max)
	}
	return "no claim"
}

// allows reports whether a holder with this claim may be inside with one more, who
// has the other claim.
func (c Claim) allows(other Claim) bool { return c == other && c.kind != exclusive }
