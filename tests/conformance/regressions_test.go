package conformance

import "testing"

func TestRegressions(t *testing.T) {
	for _, r := range regressions {
		t.Run(r.name, func(t *testing.T) {
			operations, err := parseOperations(r.operations)
			if err != nil {
				t.Fatal(err)
			}
			d, answers, err := servers(t).differ(operations)
			if err != nil {
				t.Fatal(err)
			}
			if d != nil {
				t.Errorf("%s", d)
			}
			if testing.Verbose() {
				t.Logf("%s", answers)
			}
		})
	}
}

var regressions = []struct{ name, operations string }{
	{"basics", `
		s0 create path=~/a data=hello
		s1 getData path=~/a watch=true
		s0 setData path=~/a data=x*5000
		s1 getData path=~/a watch=true
		s0 multi { create path=~/b; create2 path=~/b/c flags=1; delete path=~/a version=1; setData path=~/b version=7 }
		s0 multi { create path=~/b; create2 path=~/b/c flags=1; delete path=~/a version=1; setData path=~/b; check path=~/b }
		s2 getChildren2 path=~ watch=true
		s0 close
		s0 open timeout=10
		s1 reattach
		s1 unknown
		s1 reattach password=wrong
		s1 reattach zxid=+100000
		s1 reattach
		s1 whoAmI
		s1 check path=~
		s1 createTTL path=~/ttl flags=5
		s1 createContainer path=~/cont flags=4
		s1 sync path=~/qq
		s2 burst { create path=~/z; getData path=~/z; delete path=~/z }
	`},
}
