package conformance

import (
	"testing"

	"pgregory.net/rapid"
)

// TestOperationsCanBeReadBack holds the written form to saying all there is: what a failed comparison
// prints must be the same when it is run again.
func TestOperationsCanBeReadBack(t *testing.T) {
	everywhere := scope{root: "/root", base: 77}
	rapid.Check(t, func(t *rapid.T) {
		written := render(sequencesOf(20).Draw(t, "operations"))
		read, err := parseOperations(written)
		if err != nil {
			t.Fatal(err)
		}
		if again := render(read); again != written {
			t.Fatalf("%s\nbecame\n%s", written, again)
		}
		for _, o := range read {
			if _, err := everywhere.request(o); err != nil {
				t.Fatalf("%s cannot be sent: %v", o, err)
			}
		}
	})
}

func TestWhatCannotBeRead(t *testing.T) {
	for _, line := range []string{
		"create path=~/a", "s9 create", "s0", "s0 dance", "s0 create colour=red", "s0 multi { create", `s0 create path="~/a`, "s0 create ~/a",
	} {
		if o, err := parseOperations(line); err == nil {
			t.Errorf("%q was read as %v", line, o)
		}
	}
}
