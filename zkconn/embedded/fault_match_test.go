package embedded_test

import (
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/turnstile-locks/turnstile/zkconn/embedded"
)

// inject puts a fault in place that must be a good one.
func inject(t testing.TB, s *embedded.Server, f embedded.Fault) *embedded.Injection {
	t.Helper()
	i, err := s.Inject(f)
	require.NoError(t, err)
	return i
}

// A fault's path is a pattern as in path.Match; with "/**" at its end it is for all that is below what the
// pattern before names, however deep, and not for that itself.
func TestFaultPathPatterns(t *testing.T) {
	s, _ := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	for _, test := range []struct {
		pattern, path string
		matches       bool
	}{
		{"/a", "/a", true}, {"/a", "/ab", false}, {"/a", "/a/b", false},
		{"/a*", "/ab", true}, {"/a*", "/ab/c", false}, {"/a?", "/a", false},
		{"/a/*", "/a/b", true}, {"/a/*", "/a", false}, {"/a/*", "/a/b/c", false},
		{"/[ab]/x", "/b/x", true}, {"/[ab]/x", "/c/x", false},
		{"/a/**", "/a/b", true}, {"/a/**", "/a/b/c/d", true}, {"/a/**", "/a", false}, {"/a/**", "/ab/c", false},
		{"/*/x/**", "/a/x/y/z", true}, {"/*/x/**", "/a/y/x", false}, {"/*/x/**", "/a/x", false},
		{"/[ab]/**", "/b/c", true}, {"/[ab]/**", "/c/d", false},
		{"/**", "/a", true}, {"/**", "/a/b", true}, {"/**", "/", false},
		{"", "/a", true}, {"/", "/", true},
	} {
		fault := inject(t, s, embedded.Fault{Op: embedded.OpExists, Path: test.pattern, Count: -1})
		c.exists(test.path)
		require.Equal(t, test.matches, fault.Hits() == 1, "%q on %q", test.pattern, test.path)
		fault.Remove()
	}
}

// A path that is no pattern is refused at once, instead of never matching.
func TestFaultWithABadPattern(t *testing.T) {
	s, _ := frozen(t)
	for _, bad := range []string{"/a[", "/a[/**", "/\\"} {
		_, err := s.Inject(embedded.Fault{Path: bad})
		require.ErrorIs(t, err, path.ErrBadPattern)
		require.ErrorContains(t, err, bad)
	}
}

// A fault meets only the operation it is for, and one on a path never meets a request that names no path.
func TestFaultByOperation(t *testing.T) {
	s, _ := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	deletes := inject(t, s, embedded.Fault{Op: embedded.OpDelete, Count: -1})
	pings := inject(t, s, embedded.Fault{Op: embedded.OpPing, Count: -1})
	wild := inject(t, s, embedded.Fault{Path: "/*", Count: -1})
	c.create("/a", plain)
	c.ping()
	c.delete("/a")
	require.Equal(t, []int{1, 1, 1}, []int{deletes.Hits(), pings.Hits(), wild.Hits()},
		"of several that are for a request the first has it: the delete is not the third's")
}

// A multi is met when one of its paths is, creates among them by the path that they ask for.
func TestFaultOnAPathOfAMulti(t *testing.T) {
	s, _ := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	c.create("/a", plain)
	created := inject(t, s, embedded.Fault{Op: embedded.OpMulti, Path: "/locks-*", Count: -1})
	deleted := inject(t, s, embedded.Fault{Op: embedded.OpMulti, Path: "/a", Count: -1})
	single := inject(t, s, embedded.Fault{Op: embedded.OpCreate, Count: -1})
	c.call(embedded.OpMulti, multiOf(
		partOf(embedded.OpCheck, "/", anyVersion),
		partOf(embedded.OpCreate, createOf("/locks-", sequential)))).must()
	require.Equal(t, []int{1, 0}, []int{created.Hits(), deleted.Hits()})
	c.call(embedded.OpMulti, multiOf(
		partOf(embedded.OpSetData, "/", []byte("x"), anyVersion),
		partOf(embedded.OpDelete, "/a", anyVersion))).must()
	require.Equal(t, []int{1, 1}, []int{created.Hits(), deleted.Hits()})
	require.Zero(t, single.Hits(), "a create in a multi is no request")
}

// A fault for one session lets the others be.
func TestFaultBySession(t *testing.T) {
	s, _ := frozen(t)
	victim, other := openRaw(t, s, 0, time.Minute), openRaw(t, s, 0, time.Minute)
	fault := inject(t, s, embedded.Fault{Session: victim.session, Action: embedded.CutBefore})
	other.create("/other", plain)
	require.Zero(t, fault.Hits())
	victim.send(embedded.OpCreate, createOf("/victim", plain))
	victim.closed()
	require.Equal(t, 1, fault.Hits())
	require.False(t, other.exists("/victim"))
}

// Skip lets so many go first; then it happens once, or Count times, or always. A skipped request is no hit.
func TestFaultSkipAndCount(t *testing.T) {
	for name, test := range map[string]struct {
		skip, count int
		dropped     []int
	}{
		"once":            {0, 0, []int{0}},
		"the third":       {2, 0, []int{2}},
		"two from fourth": {3, 2, []int{3, 4}},
		"all":             {0, -1, []int{0, 1, 2, 3, 4, 5, 6}},
		"all but two":     {2, -5, []int{2, 3, 4, 5, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := frozen(t)
			c := openRaw(t, s, 0, time.Minute)
			fault := inject(t, s, embedded.Fault{Op: embedded.OpExists, Path: "/", Skip: test.skip, Count: test.count, Action: embedded.DropReply})
			var want []int32
			for i := range 7 {
				c.send(embedded.OpExists, "/", false)
				if len(test.dropped) == 0 || i != test.dropped[0] {
					want = append(want, c.xid)
					continue
				}
				test.dropped = test.dropped[1:]
			}
			for _, xid := range want {
				require.Equal(t, xid, c.reply().xid)
			}
			c.ping()
			require.Equal(t, 7-len(want), fault.Hits())
		})
	}
}

// A request that is skipped by one fault may meet the next; what one has met counts for no other.
func TestSeveralFaults(t *testing.T) {
	s, _ := frozen(t)
	c := openRaw(t, s, 0, time.Minute)
	first := inject(t, s, embedded.Fault{Op: embedded.OpExists, Skip: 1})
	second := inject(t, s, embedded.Fault{Op: embedded.OpExists, Count: -1})
	for range 3 {
		c.exists("/")
	}
	require.Equal(t, []int{1, 2}, []int{first.Hits(), second.Hits()})
}
