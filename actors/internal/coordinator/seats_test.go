package coordinator

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/actors/machine"
	"github.com/turnstile-locks/turnstile/messages"
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

// TestSeatTable checks the table of the package doc by the story of each setting, in testdata/seats.txt. A story has
// exactly the answers of seat and unseat that the table names. makes and goes are not counted, because a lock without
// settings gets them, too. Together the stories have all answers. The other columns say what seatFacts find in the
// story, and nothing that they do not find. With -rewrite it reads what TestStories has not written yet: run it again.
func TestSeatTable(t *testing.T) {
	table, stories := seatTable(t), seatStories(t)
	usual := []string{"makes", "goes"}
	var all []string
	for _, setting := range slices.Sorted(maps.Keys(stories)) {
		story := stories[setting]
		all = append(all, story.answers...)
		isUsual := func(name string) bool { return slices.Contains(usual, name) }
		inTable := strings.FieldsFunc(table[setting]["answers"], func(r rune) bool { return strings.ContainsRune(" ,;", r) })
		assert.ElementsMatch(t, inTable,
			slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(story.answers))), isUsual), setting)
		said := map[string]bool{}
		for _, fact := range seatFacts {
			says := strings.Contains(table[setting][fact.column], fact.says)
			assert.Equal(t, fact.in(story), says, "%s, %s: does the table say %q as the story does?", setting,
				fact.column, fact.says)
			said[fact.column] = said[fact.column] || says
		}
		for _, column := range []string{"who shares", "next token", "inherited by"} {
			assert.True(t, said[column], "%s, %s: nothing in the story shows %q", setting, column, table[setting][column])
		}
		for _, field := range acquireField.FindAllStringSubmatch(table[setting]["setting"], -1) {
			_, exists := reflect.TypeFor[messages.Acquire]().FieldByName(field[1])
			assert.True(t, exists, "%s: messages.Acquire has no %s", setting, field[1])
		}
		delete(table, setting)
	}
	require.Empty(t, table, "settings without a story")
	for _, name := range append(seatNames[:], fateNames[:]...) {
		assert.Contains(t, all, name)
	}
}

var acquireField = regexp.MustCompile(`messages\.Acquire\.(\w+)`)

// seatTable reads the table of the package doc: what each setting has in each column.
func seatTable(t *testing.T) map[string]map[string]string {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(doc), "(TestSeatTable):\n")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n// #")
	all, setting := map[string]map[string]string{}, ""
	for line := range strings.Lines(table) {
		if m := regexp.MustCompile(`^//\t(\w[\w ]*)\n`).FindStringSubmatch(line); m != nil {
			setting = m[1]
			all[setting] = map[string]string{}
		} else if m := regexp.MustCompile(`^//\t  (\w[\w ]*?) {2,}(.+)\n`).FindStringSubmatch(line); m != nil {
			all[setting][m[1]] = m[2]
		}
	}
	return all
}

// seatStory holds the answers and the grants that the story of one setting shows.
type seatStory struct {
	answers []string
	lines   []string
	told    map[string][]grantTold // by the name of the node
}

// grantTold is a node that a request was told to have, with its token.
type grantTold struct{ request, czxid, place string }

// hadNode is a line of a story that tells a request its node.
var hadNode = regexp.MustCompile(`^(r\d+) hears (?:Created|Seated) op=\d+ (\S+) token=(\d+)\.(\d+)`)

// seatStories reads testdata/seats.txt.
func seatStories(t *testing.T) map[string]*seatStory {
	text, err := os.ReadFile("testdata/seats.txt")
	require.NoError(t, err)
	all := map[string]*seatStory{}
	var story *seatStory
	for line := range strings.Lines(string(text)) {
		if m := regexp.MustCompile(`^# (\w[\w ]*): `).FindStringSubmatch(line); m != nil {
			story = &seatStory{told: map[string][]grantTold{}}
			all[m[1]] = story
		}
		if story == nil {
			continue
		}
		story.lines = append(story.lines, strings.TrimSpace(line))
		if m := regexp.MustCompile(`^r\d+: (\w+)\n`).FindStringSubmatch(line); m != nil {
			story.answers = append(story.answers, m[1])
		}
		if m := hadNode.FindStringSubmatch(line); m != nil {
			story.told[m[2]] = append(story.told[m[2]], grantTold{m[1], m[3], m[4]})
		}
	}
	maps.DeleteFunc(all, func(_ string, story *seatStory) bool { return len(story.answers) == 0 }) // the file's own heading
	return all
}

// answered reports whether seat or unseat gave an answer.
func (s *seatStory) answered(name string) bool { return slices.Contains(s.answers, name) }

// first gives the index of the first line that matches, -1 for none.
func (s *seatStory) first(pattern string) int {
	return slices.IndexFunc(s.lines, regexp.MustCompile(pattern).MatchString)
}

// isShared reports whether several requests were told to have one node.
func (s *seatStory) isShared() bool {
	for _, told := range s.told {
		if slices.ContainsFunc(told, func(g grantTold) bool { return g.request != told[0].request }) {
			return true
		}
	}
	return false
}

// hasNextPlace reports whether a node was had with more than one token, all of its czxid.
func (s *seatStory) hasNextPlace() bool {
	for _, told := range s.told {
		if slices.ContainsFunc(told, func(g grantTold) bool { return g.czxid == told[0].czxid && g.place > told[0].place }) {
			return true
		}
	}
	return false
}

// hasTokenOfAnother reports whether two nodes were had with one token.
func (s *seatStory) hasTokenOfAnother() bool {
	nodes := map[grantTold]string{}
	for name, told := range s.told {
		for _, g := range told {
			g.request = ""
			if other, had := nodes[g]; had && other != name {
				return true
			}
			nodes[g] = name
		}
	}
	return false
}

// seatFacts are the phrases of the columns, each with a check that the story of a setting shows it.
var seatFacts = []struct {
	column, says string
	in           func(*seatStory) bool
}{
	{"who shares", "together", func(s *seatStory) bool { return s.isShared() && s.answered("stillUsed") }},
	{"who shares", "one request after the other", func(s *seatStory) bool { return s.isShared() && !s.answered("stillUsed") }},
	{"who shares", "nobody", func(s *seatStory) bool { return !s.isShared() }},
	{"exists by", "a transaction that checks the node", func(s *seatStory) bool { return s.first(`^ask Check `) >= 0 }},
	{"exists by", "a watch, from the second grant on", func(s *seatStory) bool {
		return s.first(`^ask Watch `) > s.first(`^r\d+ hears Created`) && s.first(`^ask Watch `) >= s.first(`^timer cohortOver`)
	}},
	{"exists by", "needs the writer's node in the same transaction", func(s *seatStory) bool {
		return s.first(`^ask CreateAt .* beside `) >= 0
	}},
	{"exists by", "the queue is listed before its create", func(s *seatStory) bool {
		lists := s.first(`^ask List `)
		return lists >= 0 && lists < s.first(`^ask Create `)
	}},
	{"next token", "the next place", (*seatStory).hasNextPlace},
	{"next token", "all have the token of the node", func(s *seatStory) bool { return s.isShared() && !s.hasNextPlace() }},
	{"next token", "the writer's", (*seatStory).hasTokenOfAnother},
	{"next token", "that of its create", func(s *seatStory) bool { return !s.isShared() && !s.hasTokenOfAnother() }},
	{"inherited by", "the next in line", func(s *seatStory) bool { return s.answered("nextWaits") }},
	{"inherited by", "nobody", func(s *seatStory) bool { return !s.answered("nextWaits") }},
	{"ends", "after Sticky", func(s *seatStory) bool { return s.first(`^timer retentionOver in 1h0m0s`) >= 0 }},
	{"ends", "T/20", func(s *seatStory) bool { return s.first(`^timer cohortOver in 1\.5s`) >= 0 }},
	{"ends", "when others need its room", func(s *seatStory) bool { return s.answered("isRetained") }},
}
