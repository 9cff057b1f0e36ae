package embedded_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// What fits into one frame takes no time that grows with its square: the server's lock is held meanwhile.
// Nothing here measures it, but a test that ran into the square would not end.
func TestRequestsOfManyPartsAreQuick(t *testing.T) {
	const many = 20_000
	s := embedded.Run(t)
	other := bystander(t, s)
	c := openRaw(t, s, 0, patience)
	var list []access
	var parts []raw
	var paths []string
	for i := range int32(many) {
		list = append(list, access{i, "world", "anyone"})
		parts = append(parts, partOf(embedded.OpCheck, "/", anyVersion))
		paths = append(paths, "/"+string(rune('a'+i)))
	}
	c.call(embedded.OpCreate, "/listed", []byte{}, list, plain).must()
	unharmed(t, other)
	c.call(embedded.OpSetACL, "/listed", append(list, list[0]), anyVersion).must()
	r := c.call(embedded.OpGetACL, "/listed").must()
	require.Equal(t, int32(many), r.int32(), "what is there twice counts once")
	c.call(embedded.OpMulti, multiOf(parts...)).must()
	unharmed(t, other)
	c.call(embedded.OpSetWatches2, int64(1<<40), []string{}, paths, []string{}, paths, []string{}).must()
	unharmed(t, other)
}
