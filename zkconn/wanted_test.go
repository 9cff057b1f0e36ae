package zkconn

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The header of the reply has the czxid of a node that was made, and nobody looks at the node. Of
// several creates with the same path each has its own, whichever was sent or answered first.
func TestCreatesOfOnePath(t *testing.T) {
	var made atomic.Uint64
	c, server := connected(t, func(fakeRequest) fakeReply {
		n := made.Add(1)
		return fakeReply{zxid: 1000 + n, body: text(fmt.Sprintf("/base/q/x-%010d", n))}
	})
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			created, err := c.CreatePlain("/q", "x-", nil)
			if assert.NoError(t, err) {
				assert.Equal(t, fmt.Sprintf("x-%010d", created.Czxid-1000), created.Name)
			}
		})
	}
	all.Wait()
	require.Empty(t, server.seen(opExists))
	requireNoBirths(t, c)
}

// The header of a transaction's reply has the czxid of the nodes that it made. Where the
// transaction was refused, the header's zxid is no czxid.
func TestCreateNamedLearnsTheCzxid(t *testing.T) {
	for name, one := range map[string]struct {
		create func(c *Conn) (Created, error)
		body   []byte
	}{
		"alone":          {func(c *Conn) (Created, error) { return c.CreateNamed("/q", "one", nil, "") }, concat(multiPart(opCreate, 0, text("/base/q/one")), multiPart(opCheck, 0, nil), multiEnd())},
		"beside another": {func(c *Conn) (Created, error) { return c.CreateNamed("/q", "one", nil, "other") }, concat(multiPart(opCheck, 0, nil), multiPart(opCreate, 0, text("/base/q/one")), multiEnd())},
		"for another":    {func(c *Conn) (Created, error) { return c.ReplaceNamed("/q", "other", 3, "one", nil) }, concat(multiPart(opDelete, 0, nil), multiPart(opCreate, 0, text("/base/q/one")), multiEnd())},
	} {
		t.Run(name, func(t *testing.T) {
			c, server := connected(t, func(fakeRequest) fakeReply { return fakeReply{zxid: 77, body: one.body} })
			created, err := one.create(c)
			require.NoError(t, err)
			require.Equal(t, Created{Name: "one", Czxid: 77}, created)
			require.Empty(t, server.seen(opExists))
			requireNoBirths(t, c)
		})
	}
	refused := concat(multiPart(-1, -110, []byte{255, 255, 255, 146}), multiEnd())
	c, _ := connected(t, func(fakeRequest) fakeReply { return fakeReply{zxid: 78, body: refused} })
	created, err := c.CreateNamed("/q", "one", nil, "")
	require.ErrorIs(t, err, ErrNodeExists)
	require.Zero(t, created.Czxid)
	requireNoBirths(t, c)
}

func requireNoBirths(t *testing.T, c *Conn) {
	t.Helper()
	c.wants.mu.Lock()
	defer c.wants.mu.Unlock()
	require.Empty(t, c.wants.all)
}
