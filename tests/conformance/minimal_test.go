package conformance

import (
	"strings"
	"testing"

	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// TestDifferencesAreMadeSmall gives the comparison a server that does one thing wrong, and expects to be told
// what, without the rest.
func TestDifferencesAreMadeSmall(t *testing.T) {
	wrong := embedded.Run(t,
		embedded.WithTick(undisturbed.tick),
		embedded.WithSessionTimeouts(undisturbed.shortest, undisturbed.longest),
		embedded.WithMaxFrame(4000),
	)
	p := pair{startSubject(t, undisturbed), wrong}
	around := strings.Repeat(`
		s0 create path=~/a
		s1 getData path=~/a watch=true
		s0 setData path=~/a data=x
		s2 multi { create path=~/b; delete path=~/a; delete path=~/b }
		s2 getChildren path=~
	`, 5)
	operations, err := parseOperations(around + "s1 multi { check path=~; create path=~/c data=x*5000 flags=1 }\n" + around)
	if err != nil {
		t.Fatal(err)
	}
	d, err := p.differ(operations)
	if err != nil {
		t.Fatal(err)
	}
	if d == nil {
		t.Fatal("a server that takes no long frames is not told from one that does")
	}
	least, d := minimize(p, operations, d)
	if got, want := render(least), "s1 multi { check path=~; create path=~/c data=x*5000 flags=1 }\n"; got != want {
		t.Errorf("the least sequence is\n%s\nand not\n%s", got, want)
	}
	if !strings.Contains(d.second, "s1 closed") || strings.Contains(d.first, "s1 closed") {
		t.Errorf("the difference is not that the connection closed: %s", d)
	}
}
