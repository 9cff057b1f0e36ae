package conformance

import "testing"

func TestWhatCannotBeRead(t *testing.T) {
	for _, line := range []string{
		"create path=~/a", "s9 create", "s0", "s0 dance", "s0 create colour=red", "s0 multi { create", `s0 create path="~/a`, "s0 create ~/a",
	} {
		if o, err := parseOperations(line); err == nil {
			t.Errorf("%q was read as %v", line, o)
		}
	}
}
