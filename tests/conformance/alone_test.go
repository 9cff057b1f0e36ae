package conformance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"
)

// TestFresh is about servers that nobody has used.
func TestFresh(t *testing.T) {
	alone(undisturbed).each(t, func(t *testing.T, s server) {
		recorded(t, "fresh", func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "nodes":
				return firstNodes(t, s)
			case "mntr":
				return shapesOfMetrics(t, s, strings.Fields(d.Input))
			}
			answer := fourLetter(t, s, d.Input)
			switch d.Cmd {
			case "shape":
				return shape(answer)
			case "keys":
				return keys(answer)
			case "version":
				return version(answer)
			default:
				return answer
			}
		})
		countsMetrics(t, s)
	})
}

// firstNodes shows the nodes that servers have from the beginning.
func firstNodes(t *testing.T, s server) string {
	c, err := newCaretaker(s.Addr(), "/none")
	require.NoError(t, err)
	defer c.leave()
	m := &mask{scope: scope{root: "/none", base: 1}}
	var out strings.Builder
	for _, path := range []string{"/", `""`, "/zookeeper", "/zookeeper/quota", "/zookeeper/config"} {
		for _, name := range []string{"exists", "getData", "getACL", "getChildren2", "childrenNumber"} {
			o := op(name, path)
			answers, err := c.ask(o)
			require.NoError(t, err)
			a := answers[0]
			fmt.Fprintln(&out, o.bare(), m.zxid(a.zxid), a.header.err, m.reply(o, a.header.err, a.decoder))
		}
	}
	return out.String()
}

// tidied makes nodes and shows what is left when the server has removed what it removes on its own. When it does is up
// to the server, so only the result is shown.
func tidied(t *testing.T, s server) string {
	c, err := newCaretaker(s.Addr(), "/tidy")
	require.NoError(t, err)
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
	require.NoError(t, err)
	// The outer container goes after the inner one, and the one node after the other, so a while passes
	// in which everything that will go is gone; what has not gone by then is looked at once more.
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		left, err := c.tree()
		require.NoError(t, err)
		if !slices.Contains(left, "~/used") && !slices.Contains(left, "~/brief") {
			break
		}
	}
	time.Sleep(3 * quick.reap)
	left, err := c.tree()
	require.NoError(t, err)
	answers, err := c.ask(op("exists", "~"))
	require.NoError(t, err)
	st := answers[0].stat()
	return fmt.Sprintf("%s\ncversion %d, %d children\n", strings.Join(left, "\n"), st.cversion, st.numChildren)
}
