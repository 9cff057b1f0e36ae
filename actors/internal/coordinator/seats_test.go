package coordinator

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
)

// seatNames are the names of seat's answers in stories and in the table of the package doc,
// fateNames the names of unseat's.
var (
	seatNames = [...]string{refused: "refused", awaitsRequest: "awaitsRequest", sharesHold: "sharesHold",
		makesBeside: "makesBeside", hasNode: "hasNode", joinsReaders: "joinsReaders", lineOfNode: "lineOfNode",
		reuses: "reuses", makes: "makes", awaitsRoom: "awaitsRoom", lineOfQueue: "lineOfQueue", full: "full",
		listsFirst: "listsFirst"}
	fateNames = [...]string{stillUsed: "stillUsed", nextHolds: "nextHolds", isRetained: "isRetained", nextWaits: "nextWaits",
		goes: "goes"}
)

// seat says how seat or unseat answers an order that is about to be carried out.
func (s *story) seat(o *Order) {
	c := s.c.Clone()
	c.at = s.at
	switch r := c.requestOf(o); o.Do {
	case machine.Create:
		fmt.Fprintf(&s.out, "r%d: %s\n", r.id, seatNames[c.seat(r).kind])
	case machine.GiveBack, machine.Delete:
		fmt.Fprintf(&s.out, "r%d: %s\n", r.id, fateNames[c.unseat(r, o.Do)])
	}
	require.Empty(s.t, seatsChange(c), "%v", o)
}

// seatsChange asks where each request would sit, and what would become of its node, and gives what that has changed.
func seatsChange(c *Coordinator) string {
	before := printed(c)
	for _, r := range c.inOrder() {
		c.seat(r)
		for _, do := range []machine.Do{machine.GiveBack, machine.Delete, machine.CleanUp} {
			c.unseat(r, do)
		}
	}
	if after := printed(c); after != before {
		return after
	}
	return ""
}

// TestSeatTable checks the table of the package doc: the story of each setting, in
// testdata/seats.txt, has exactly the answers of seat and unseat that the table names. makes and
// goes are not counted, because a lock without settings gets them, too. Together the stories have
// all answers. With -rewrite it reads what TestStories has not written yet: run it again.
func TestSeatTable(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	story, err := os.ReadFile("testdata/seats.txt")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(doc), "(TestSeatTable):\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n// #")
	inTable, inStory := map[string][]string{}, map[string][]string{}
	setting := ""
	for line := range strings.Lines(table) {
		if m := regexp.MustCompile(`^//\t(\w[\w ]*)\n`).FindStringSubmatch(line); m != nil {
			setting = m[1]
		} else if _, answers, is := strings.Cut(line, "answers "); is {
			inTable[setting] = strings.FieldsFunc(answers, func(r rune) bool { return strings.ContainsRune(" ,;\n", r) })
		}
	}
	for line := range strings.Lines(string(story)) {
		if m := regexp.MustCompile(`^# (\w[\w ]*): `).FindStringSubmatch(line); m != nil {
			setting = m[1]
		} else if m := regexp.MustCompile(`^r\d+: (\w+)\n`).FindStringSubmatch(line); m != nil {
			inStory[setting] = append(inStory[setting], m[1])
		}
	}
	usual := []string{"makes", "goes"}
	var all []string
	for _, setting := range slices.Sorted(maps.Keys(inStory)) {
		all = append(all, inStory[setting]...)
		isUsual := func(name string) bool { return slices.Contains(usual, name) }
		assert.ElementsMatch(t, inTable[setting],
			slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(inStory[setting]))), isUsual), setting)
		delete(inTable, setting)
	}
	require.Empty(t, inTable, "settings without a story")
	for _, name := range append(seatNames[:], fateNames[:]...) {
		assert.Contains(t, all, name)
	}
}
