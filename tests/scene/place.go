package scene

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/turnstile-locks/turnstile/tests/bubble"
	"github.com/turnstile-locks/turnstile/tests/patient"
	"github.com/turnstile-locks/turnstile/tests/rig"
	"github.com/turnstile-locks/turnstile/tests/stories"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

const bound = time.Hour // of virtual time

// place is where scenes are played.
type place interface {
	// keeps reports whether scenes are not played here: those for other places only, or those that another place rewrites.
	keeps(only string) bool
	// way makes the way of a client to the servers.
	way(t *testing.T) way
	raw(t *testing.T) *zk.Conn
	chroot() string
	// settle waits until all that was caused has happened, where that can be known.
	settle()
	// patience is how long an outcome may take from now on.
	patience() time.Duration
	// watches counts them, where that can be known.
	watches(t *testing.T) int
}

type dialer = func(ctx context.Context, network, address string) (net.Conn, error)

// way is the way of a client to the servers.
type way interface {
	connect(root string) (string, dialer)
	cut(down bool)
	Refuse(bool)
	expire(t *testing.T, ctx context.Context, session int64)
	fault(rig.Rule) *rig.Fault
}

// virtual is an embedded server of a file's own, in a bubble.
type virtual struct{ server *embedded.Server }

func newVirtual(t *testing.T) virtual {
	t.Cleanup(func() { time.Sleep(time.Minute) }) // throttles of actor systems sleep on for a while
	return virtual{bubble.Server(t, embedded.WithSessionTimeouts(200*time.Millisecond, stories.Longest))}
}

func (virtual) keeps(only string) bool  { return only == "servers" }
func (v virtual) way(*testing.T) way    { return &wire{v.server, bubble.NewLine(v.server)} }
func (virtual) chroot() string          { return stories.Chroot() }
func (virtual) patience() time.Duration { return 0 }
func (v virtual) settle() {
	synctest.Wait()
	time.Sleep(time.Second)
	synctest.Wait()
}

func (v virtual) raw(t *testing.T) *zk.Conn {
	conn, events, err := zk.Connect([]string{v.server.Addr()}, time.Minute, zk.WithDialer(v.server.Dialer()), zk.WithLogger(quiet{}))
	require.NoError(t, err)
	patient.Cleanup(t, func() {
		conn.Close()
		for range events {
		}
	})
	return conn
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}

func (v virtual) watches(t *testing.T) (n int) {
	conn, err := v.server.DialContext(context.Background(), "tcp", v.server.Addr())
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "mntr")
	require.NoError(t, err)
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "zk_watch_count\t"); ok {
			n = len(text)
		}
	}
	return n
}

type wire struct {
	server *embedded.Server
	line   *bubble.Line
}

func (w *wire) connect(root string) (string, dialer) {
	return w.server.Addr() + root, w.line.Dial
}

func (w *wire) cut(down bool) { w.line.Be(map[bool]bubble.State{true: bubble.Down}[down]) }

func (w *wire) expire(t *testing.T, _ context.Context, session int64) {
	require.NoError(t, w.server.Expire(session))
}

func (w *wire) Refuse(bool) {}

func (w *wire) fault(rig.Rule) *rig.Fault { panic("faults need servers") }

// servers are those that the tests of a package share, embedded or real, and a proxy for each client.
type servers struct {
	zk      *stories.Servers
	rewrite bool
}

func (s *servers) keeps(only string) bool { return only == "virtual" || s.rewrite && only == "" }
func (s *servers) way(t *testing.T) way   { return &proxied{s.zk.Proxy(t), s.zk} }
func (s *servers) raw(t *testing.T) *zk.Conn {
	return s.zk.Raw(t)
}
func (s *servers) chroot() string { return s.zk.Root() + stories.Chroot() }
func (s *servers) patience() time.Duration {
	if s.rewrite {
		return 2 * time.Second
	}
	return patient.Bound
}
func (*servers) settle()                {}
func (*servers) watches(*testing.T) int { return 0 }

type proxied struct {
	*rig.Proxy
	zk *stories.Servers
}

func (p *proxied) connect(root string) (string, dialer) {
	return p.Addr() + root, new(net.Dialer).DialContext
}

func (p *proxied) cut(down bool) {
	if p.Refuse(down); down {
		p.Cut()
	}
}

func (p *proxied) expire(t *testing.T, ctx context.Context, _ int64) {
	id, password, ok := p.Session()
	require.True(t, ok)
	p.cut(true)
	require.NoError(t, rig.ExpireSession(ctx, p.zk.Members[0].Addr(), id, password))
	p.cut(false)
}

func (p *proxied) fault(rule rig.Rule) *rig.Fault { return p.Expect(rule) }
