package queue

import "strings"

// guardEnd ends the name of a guard. No contender's name ends so, because those end in digits.
const guardEnd = "-guard"

// guidLength is the length of a GUID with its dashes.
const guidLength = len("00000000-0000-0000-0000-000000000000")

// GuardName gives the name of the guard beside the node of a contest: an ephemeral sibling that is made
// in the transaction which makes that node, and deleted in the one which deletes it. one is the name of
// the node, guid the GUID of the attempt to make it. So no two creates have one guard.
func GuardName(one, guid string) string { return one + "-" + guid + guardEnd }

// IsGuard reports whether a child is a guard by its name: it is no lock, no contender, and no parent of
// any.
func IsGuard(child string) bool {
	_, is := GuardedBy(child)
	return is
}

// GuardedBy gives the name of the node of a contest beside which a guard stands; false for a child that is no guard.
func GuardedBy(guard string) (one string, is bool) {
	rest, ends := strings.CutSuffix(guard, guardEnd)
	if !ends || len(rest) <= guidLength {
		return "", false
	}
	one, guid := rest[:len(rest)-guidLength], rest[len(rest)-guidLength:]
	return strings.TrimSuffix(one, "-"), strings.Count(guid, "-") == 4 && strings.Trim(guid, "0123456789abcdef-") == ""
}
