package inspect

import (
	"errors"
	"math"
	"strings"

	"github.com/turnstile-locks/turnstile/actors/queue"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// describe adds to a contender what its node tells: its data, and their stat. It returns false when
// the node is gone. Of a node that may not be read the stat tells less, and since 3.8.4 and 3.9.2 (ZOOKEEPER-2590)
// servers keep that to themselves, too. Such a node still has its place in the queue.
func describe(conn *zkconn.Conn, c *messages.Contender, naming messages.Naming) (exists bool, err error) {
	data, stat, err := conn.Get(c.At())
	if errors.Is(err, zkconn.ErrNoAuth) {
		c.Unread = true
		stat, exists, err = conn.Exists(c.At())
		if errors.Is(err, zkconn.ErrNoAuth) {
			c.Library = libraryOf(c, naming, nil, false)
			return true, nil
		}
		if err != nil || !exists {
			return false, err
		}
	}
	if errors.Is(err, zkconn.ErrNoNode) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	c.Session, c.Since = stat.EphemeralOwner, stat.Ctime
	c.Asked = queue.IsRevokeRequest(data)
	o, ours := queue.ParseOwner(data)
	c.Token, _ = messages.NewToken(stat.Czxid, o.Place) // zero where it does not fit, as Contender says
	c.Library = libraryOf(c, naming, data, ours)
	if ours {
		o.Describe(c)
	}
	return true, nil
}

// ephemeral tells whether a node ends with a session. Servers mark container nodes and those with a
// time to live in the same field, by values that are no session's.
func ephemeral(stat zkconn.Stat) bool {
	const timeToLive = 0xff
	owner := stat.EphemeralOwner
	return owner != 0 && owner != math.MinInt64 && uint64(owner)>>56 != timeToLive
}

// A protected node's name is _c_, a GUID, a dash and more. Curator writes the GUID with dashes,
// go-zookeeper without.
const (
	protected = "_c_"
	uuidForm  = len("00000000-0000-0000-0000-000000000000")
	hexForm   = len("00000000000000000000000000000000")
)

// libraryOf guesses which library made a node, from its name and its data, which were read unless
// the contender is Unread.
func libraryOf(c *messages.Contender, naming messages.Naming, data []byte, ours bool) messages.Library {
	rest, isProtected := strings.CutPrefix(c.Node, protected)
	switch {
	case ours:
		return messages.LibraryTurnstile
	case c.Mode == messages.Contest && c.Asked: // nobody else's nodes are asked there
		return messages.LibraryTurnstile
	case c.Mode == messages.Contest:
		return messages.LibraryUnknown
	case isProtected && guidOf(rest, hexForm) && !strings.Contains(rest[:hexForm], "-"):
		return messages.LibraryGoZookeeper
	case isProtected && (c.Mode == messages.Semaphore || c.Name != ""):
		return messages.LibraryTurnstile // nobody else has such names
	case isProtected && !guidOf(rest, uuidForm), isProtected && c.Unread:
		return messages.LibraryUnknown
	case isProtected && string(data) == queue.RevokeRequest: // what was there before is lost
		return messages.LibraryTurnstile
	case isProtected:
		return messages.LibraryCurator
	case naming == messages.KazooNaming:
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
