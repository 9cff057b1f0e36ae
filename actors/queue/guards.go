package queue

import (
	"fmt"
	"strings"
)

// guardEnd ends the name of a guard. No contender's name ends so, because those end in digits.
const guardEnd = "-guard"

// guidLength is the length of a GUID with its dashes.
const guidLength = len("00000000-0000-0000-0000-000000000000")

// GuardName gives the name of the guard beside the node of a contest: an ephemeral sibling that is made
// in the transaction which makes that node, and deleted in the one which deletes it. one is the name of
// the node, guid the GUID of the request, and create the number of this create among the request's. So
// no two creates have one guard.
func GuardName(one, guid string, create uint64) string {
	return fmt.Sprintf("%s-%08x-%s%s", one, create, guid, guardEnd)
}

// IsGuard reports whether a child is a guard by its name: it is no lock, no contender, and no parent of
// any.
func IsGuard(child string) bool {
	rest, ends := strings.CutSuffix(child, guardEnd)
	if !ends || len(rest) <= guidLength {
		return false
	}
	guid := rest[len(rest)-guidLength:]
	return strings.Count(guid, "-") == 4 && strings.Trim(guid, "0123456789abcdef-") == ""
}

// GuardsOf gives those children that are guards of the node of a contest.
func GuardsOf(one string, children []string) (guards []string) {
	for _, child := range children {
		if strings.HasPrefix(child, one+"-") && IsGuard(child) {
			guards = append(guards, child)
		}
	}
	return guards
}
