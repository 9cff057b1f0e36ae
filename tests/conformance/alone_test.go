package conformance

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// TestFreshServers compares servers that nobody has used, where nothing needs to be masked.
func TestFreshServers(t *testing.T) {
	ask := func(s server) []string {
		c, err := newCaretaker(s.Addr(), "/none")
		if err != nil {
			t.Fatal(err)
		}
		defer c.leave()
		m := &mask{scope: scope{root: "/none", base: 1}}
		var out []string
		for _, path := range []string{"/", `""`, "/zookeeper", "/zookeeper/quota", "/zookeeper/config"} {
			for _, name := range []string{"exists", "getData", "getACL", "getChildren2", "childrenNumber"} {
				o := op(name, path)
				answers, err := c.ask(o)
				if err != nil {
					t.Fatal(err)
				}
				a := answers[0]
				out = append(out, fmt.Sprint(o.bare(), " ", m.zxid(a.zxid), " ", a.header.err, m.reply(o, a.header.err, a.decoder)))
			}
		}
		return out
	}
	right, ours := ask(startReal(t, undisturbed)), ask(startSubject(t, undisturbed))
	for i := range right {
		if right[i] != ours[i] {
			t.Errorf("reference: %s\nsubject:   %s", right[i], ours[i])
		}
	}
}

// TestServersTidyUp compares what servers remove on their own: containers that have lost their last
// child, and nodes whose time is over. The time is up to the servers, so only the results are
// compared.
func TestServersTidyUp(t *testing.T) {
	t.Parallel()
	right, err := tidied(startReal(t, quick))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := tidied(startSubject(t, quick))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(right, ours) || !slices.Contains(right, "~/parent/x") {
		t.Errorf("reference: %q\nsubject:   %q", right, ours)
	}
}

func tidied(s server) ([]string, error) {
	c, err := newCaretaker(s.Addr(), "/tidy")
	if err != nil {
		return nil, err
	}
	defer c.leave()
	container := func(path string) operation { return op("createContainer", path).with("flags", 4) }
	brief := func(path string) operation { return op("createTTL", path).with("flags", 5).with("ttl", 1) }
	_, err = c.ask(
		op("create", "~"),
		container("~/unused"),
		container("~/used"), op("create", "~/used/x"), container("~/used/inner"), op("create", "~/used/inner/y"),
		container("~/full"), op("create", "~/full/x"),
		brief("~/brief"),
		// At once, so that the parent's time is not over before it has its child.
		operation{name: "multi", parts: []operation{brief("~/parent"), op("create", "~/parent/x")}},
		op("createTTL", "~/long").with("flags", 5).with("ttl", 10_000_000),
		op("delete", "~/used/x"), op("delete", "~/used/inner/y"),
	)
	if err != nil {
		return nil, err
	}
	// The outer container goes after the inner one, and the one node after the other, so a while passes
	// in which everything that will go is gone; what has not gone by then is looked at once more.
	var left []string
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if left, err = c.tree(); err != nil {
			return nil, err
		}
		gone := !slices.Contains(left, "~/used") && !slices.Contains(left, "~/brief")
		if gone || time.Now().After(deadline) {
			break
		}
	}
	time.Sleep(3 * quick.reap)
	if left, err = c.tree(); err != nil {
		return nil, err
	}
	answers, err := c.ask(op("exists", "~"))
	if err != nil {
		return nil, err
	}
	st := answers[0].stat()
	return append(left, fmt.Sprintf("cversion %d, %d children", st.cversion, st.numChildren)), nil
}
