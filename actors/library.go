package actors

import (
	"encoding/json"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
)

// parseOwner reads a node's data as Turnstile writes them; false where somebody else wrote them.
func parseOwner(data []byte) (Owner, bool) {
	var o Owner
	if json.Unmarshal(data, &o) != nil || o.Host == "" {
		return Owner{}, false
	}
	for m := messages.Exclusive; m.Known(); m++ {
		if m.String() == o.Mode {
			return o, true
		}
	}
	return Owner{}, false
}

// Lengths of what stands before the word in a protected node's name, and how go-zookeeper's differs from Curator's.
const (
	protected = "_c_"
	uuidForm  = len("00000000-0000-0000-0000-000000000000")
	hexForm   = len("00000000000000000000000000000000")
)

// libraryOf guesses from a node's name and data whose it is. read tells whether the data could be read.
func libraryOf(e queue.Entry, data []byte, read bool) messages.Library {
	if _, ours := parseOwner(data); ours {
		return messages.LibraryTurnstile
	}
	rest, isProtected := strings.CutPrefix(e.Child, protected)
	switch {
	case isProtected && guidOf(rest, hexForm) && !strings.Contains(rest[:hexForm], "-"):
		return messages.LibraryGoZookeeper
	case isProtected && (e.Mode == messages.Semaphore || e.Name != ""):
		return messages.LibraryTurnstile // nobody else has such names
	case isProtected && !guidOf(rest, uuidForm), isProtected && !read:
		return messages.LibraryUnknown
	case isProtected && string(data) == unlockData: // what was there before is lost
		return messages.LibraryTurnstile
	case isProtected:
		return messages.LibraryCurator
	case e.Naming == messages.KazooNaming:
		return messages.LibraryKazoo
	}
	return messages.LibraryRecipe
}

// guidOf tells whether a name goes on with a GUID of so many characters and a dash.
func guidOf(rest string, length int) bool {
	if len(rest) <= length || rest[length] != '-' {
		return false
	}
	return strings.Trim(rest[:length], "0123456789abcdefABCDEF-") == ""
}
