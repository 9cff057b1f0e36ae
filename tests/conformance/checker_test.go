package conformance

import (
	"slices"
	"testing"
)

// sample is an answer that two servers might agree on.
func sample() transcript {
	stat := []shown{{"czxid", "+4"}, {"mzxid", "+5"}, {"version", "1"}, {"owner", "session0"}}
	return transcript{
		{operation: "s0 setData path=~/a", entries: []entry{
			{session: 0, what: "event", fields: []shown{{"type", "changed"}, {"path", "~/a"}}},
			{session: 0, what: "event", fields: []shown{{"type", "children"}, {"path", "~"}}},
			{session: 0, what: "reply", fields: append([]shown{{"err", "0"}, {"zxid", "+5"}}, stat...)},
			{session: 0, what: "pong", fields: []shown{{"zxid", "+5"}}},
			{session: 1, what: "event", fields: []shown{{"type", "changed"}, {"path", "~/a"}}},
			{session: 1, what: "pong", fields: []shown{{"zxid", "+5"}}},
		}},
		{operation: "s1 getChildren path=~", entries: []entry{
			{session: 1, what: "reply", fields: []shown{{"err", "0"}, {"zxid", "+5"}, {"children", "[a,b]"}}},
			{session: 1, what: "pong", fields: []shown{{"zxid", "+5"}}},
		}},
	}
}

// TestCheckerFindsEachDifference changes one thing at a time.
func TestCheckerFindsEachDifference(t *testing.T) {
	if d := compare(sample(), sample()); d != nil {
		t.Fatalf("a difference where there is none: %s", d)
	}
	for name, c := range map[string]struct {
		change func(transcript) transcript
		step   int
		field  string
	}{
		"error":             {set(0, 2, 0, "-101"), 0, "err"},
		"transaction id":    {set(0, 2, 1, "+6"), 0, "zxid"},
		"field of the stat": {set(0, 2, 4, "2"), 0, "version"},
		"owner":             {set(0, 2, 5, "session1"), 0, "owner"},
		"event's type":      {set(0, 4, 0, "deleted"), 0, "type"},
		"event's path":      {set(0, 0, 1, "~/b"), 0, "path"},
		"children":          {set(1, 0, 2, "[a]"), 1, "children"},
		"order of events": {func(t transcript) transcript {
			t[0].entries[0], t[0].entries[1] = t[0].entries[1], t[0].entries[0]
			return t
		}, 0, "type"},
		"event behind its reply": {func(t transcript) transcript {
			t[0].entries[1], t[0].entries[2] = t[0].entries[2], t[0].entries[1]
			return t
		}, 0, ""},
		"event missing": {func(t transcript) transcript {
			t[0].entries = slices.Delete(t[0].entries, 4, 5)
			return t
		}, 0, ""},
		"one event more": {func(t transcript) transcript {
			t[1].entries = append(t[1].entries, entry{session: 2, what: "event"})
			return t
		}, 1, ""},
		"event of another session": {func(t transcript) transcript {
			t[0].entries[4].session = 2
			return t
		}, 0, ""},
		"closed connection": {func(t transcript) transcript {
			t[1].entries[1] = entry{session: 1, what: "closed"}
			return t
		}, 1, ""},
		"field missing": {func(t transcript) transcript {
			t[1].entries[0].fields = t[1].entries[0].fields[:2]
			return t
		}, 1, ""},
		"end missing": {func(t transcript) transcript { return t[:1] }, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := compare(sample(), c.change(sample()))
			switch {
			case d == nil:
				t.Fatal("no difference was found")
			case d.step != c.step || d.field != c.field:
				t.Fatalf("found in operation %d, field %q, not in %d, %q: %s", d.step, d.field, c.step, c.field, d)
			case d.marked(d.first) == d.marked(d.second):
				t.Fatalf("both sides say the same: %s", d)
			}
			if compare(c.change(sample()), sample()) == nil {
				t.Fatal("no difference was found the other way round")
			}
		})
	}
}

func set(step, entry, field int, value string) func(transcript) transcript {
	return func(t transcript) transcript {
		t[step].entries[entry].fields[field].value = value
		return t
	}
}
