package zkconn

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	minute = time.Minute
	tick   = time.Millisecond
)

func connected(t *testing.T, handle func(r fakeRequest) fakeReply, more ...func(*fakeServer)) (*Conn, *fakeServer) {
	t.Helper()
	server := newFakeServer(t)
	server.handle = handle
	for _, change := range more {
		change(server)
	}
	c, events := dialFake(t, server, "zk1/base")
	expect(t, events, Connected)
	return c, server
}

func concat(parts ...[]byte) (all []byte) {
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}

func TestCommitMakesSeveral(t *testing.T) {
	var order []int32
	c, server := connected(t, func(r fakeRequest) fakeReply {
		order = append(order, r.op)
		if r.op != opMulti {
			return fakeReply{body: concat(text("data"), statBody(1, 1, 0))}
		}
		return fakeReply{zxid: 42, body: concat(multiPart(opDelete, 0, nil), multiPart(opCreate, 0, text("/base/q/x-0000000041")),
			multiPart(opCreate, 0, text("/base/p/y-0000000007")), multiPart(opCreate, 0, text("/base/q/z-0000000042")), multiEnd())}
	})
	read := false
	made, err := c.Commit([]NewNode{{Parent: "/q", Prefix: "x-"}, {Parent: "/p", Prefix: "y-"}, {Parent: "/q", Prefix: "z-"}},
		[]string{"/q/old"}, nil, func() {
			_, _, err := c.Get("/q")
			read = err == nil
		})
	require.NoError(t, err)
	require.True(t, read)
	require.Equal(t, []int32{opMulti, opGetData}, order, "what is read goes out behind it")
	require.Equal(t, []Created{
		{Name: "x-0000000041", Czxid: 42}, {Name: "y-0000000007", Czxid: 42},
		{Name: "z-0000000042", Czxid: 42, Place: 1},
	}, made)
	require.Empty(t, server.seen(opSetData))
	requireNoBirths(t, c)
}

func TestCommitTellsThePartThatFailed(t *testing.T) {
	code := func(n int32) []byte { return []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)} }
	failed := func(codes ...int32) func(fakeRequest) fakeReply {
		return func(fakeRequest) fakeReply {
			var body []byte
			for _, n := range codes {
				body = append(body, multiPart(-1, n, code(n))...)
			}
			return fakeReply{body: append(body, multiEnd()...)}
		}
	}
	for name, test := range map[string]struct {
		handle func(fakeRequest) fakeReply
		path   string
		value  error
	}{
		"second not allowed": {failed(0, -102), "/p/y-", ErrNoAuth},
		"create not allowed": {failed(-102, -2), "/q/x-", ErrNoAuth},
		"whole":              {func(fakeRequest) fakeReply { return fakeReply{code: -101} }, "/q/x-", ErrNoNode},
		"garbage":            {func(fakeRequest) fakeReply { return fakeReply{body: multiPart(88, 0, nil)} }, "/q/x-", ErrUnknownOutcome},
		"other kinds": {func(fakeRequest) fakeReply {
			return fakeReply{body: concat(multiPart(2, 0, nil), multiPart(2, 0, nil), multiEnd())}
		}, "/q/x-", ErrUnknownOutcome},
		"too few": {func(fakeRequest) fakeReply { return fakeReply{body: multiEnd()} }, "/q/x-", ErrUnknownOutcome},
	} {
		c, _ := connected(t, test.handle)
		made, err := c.Commit([]NewNode{{Parent: "/q", Prefix: "x-"}, {Parent: "/p", Prefix: "y-"}}, nil, nil, nil)
		require.ErrorIs(t, err, test.value, name)
		var e *Error
		require.ErrorAs(t, err, &e, name)
		require.Equal(t, test.path, e.Path, name)
		require.Empty(t, made, name)
		requireNoBirths(t, c)
	}
}

// A request behind a create is sent behind it, whichever goroutine comes first, and before there is an answer.
func TestCreateBefore(t *testing.T) {
	var order []int32
	c, _ := connected(t, func(r fakeRequest) fakeReply {
		order = append(order, r.op)
		switch r.op {
		case opCreate:
			return fakeReply{body: text("/base/q/x-0000000041")}
		}
		return fakeReply{body: concat(text("data"), statBody(1, 1, 0))}
	})
	for range 100 {
		order = nil
		read := false
		created, err := c.CreateBefore("/q", "x-", nil, func() {
			_, _, err := c.Get("/q")
			read = err == nil
		})
		require.NoError(t, err)
		require.Equal(t, "x-0000000041", created.Name)
		require.True(t, read)
		require.Len(t, order, 2)
		require.EqualValues(t, opCreate, order[0])
	}
	requireNoBirths(t, c)
}

// Nothing follows a create that is not sent.
func TestCreateBeforeIsNotSent(t *testing.T) {
	c, _ := connected(t, nil)
	_, err := c.CreateBefore("/q", "a/b", nil, func() { t.Error("it was called") })
	require.Equal(t, NotSent, OutcomeOf(err))
	requireNoBirths(t, c)
}

func TestExistsIsNoError(t *testing.T) {
	c, _ := connected(t, func(fakeRequest) fakeReply { return fakeReply{code: -101} })
	stat, exists, err := c.Exists("/a")
	require.NoError(t, err)
	require.False(t, exists)
	require.Zero(t, stat)
}

func TestBadRequestsAreNotSent(t *testing.T) {
	c, server := connected(t, nil)
	big := make([]byte, maxRequest)
	for _, err := range []error{
		c.Sync("a"), c.Sync("/"), c.SetData("", nil), c.EnsureParents("/a/../b"), c.SetData("/a", big),
		c.Delete("/a/"), second(c.Children("/zookeeper")), c.Heartbeat(""), second(c.CreatePlain("/a", "b/c", nil)),
		second(c.CreatePlain("/a", "\x00", nil)), second(c.CreatePlain("/", "b", nil)), second(c.CreatePlain("/a", "b", big)),
		third(c.Get("x")), third(c.GetWatched("x")), third(c.Exists("x")), second(c.Commit(nil, nil, nil, nil)),
		second(c.Commit([]NewNode{{Parent: "bad", Prefix: "x"}}, nil, nil, nil)), second(c.Commit(nil, []string{"bad"}, nil, nil)),
		second(c.Commit([]NewNode{{Parent: "/a", Prefix: "b", Data: big}, {Parent: "/a", Prefix: "b"}}, nil, nil, nil)),
	} {
		require.Equal(t, NotSent, OutcomeOf(err), "%v", err)
		var e *Error
		require.ErrorAs(t, err, &e)
	}
	require.Empty(t, server.requests)
}

func second[T any](_ T, err error) error        { return err }
func third[T, U any](_ T, _ U, err error) error { return err }

func TestEnsureParentsMakesContainersFromTheTop(t *testing.T) {
	made := map[string]bool{}
	c, server := connected(t, func(r fakeRequest) fakeReply {
		path, parent := createdPath(r)
		switch {
		case made[path]:
			return fakeReply{code: -110}
		case parent != "" && !made[parent]:
			return fakeReply{code: -101}
		}
		made[path] = true
		return fakeReply{body: append(text(path), statBody(1, 1, 0)...)}
	})
	require.NoError(t, c.EnsureParents("/a/b"))
	require.Equal(t, map[string]bool{"/base": true, "/base/a": true, "/base/a/b": true}, made, "the chroot too")
	require.NoError(t, c.EnsureParents("/a/b"))
	require.Len(t, server.seen(opCreateContainer), 3+2+1)
	require.Empty(t, server.seen(opCreate))
}

// createdPath gives the path of a create and its parent's.
func createdPath(r fakeRequest) (path, parent string) {
	path = string(r.body[4 : 4+r.body[3]])
	return path, path[:len(path)-1-len(lastElement(path))]
}

func TestEnsureParentsWhoseAncestorsVanish(t *testing.T) {
	var calls atomic.Int32
	c, _ := connected(t, func(r fakeRequest) fakeReply {
		path, _ := createdPath(r)
		if path == "/base/a/b" && calls.Add(1) <= 6 { // three rounds of going up and down
			return fakeReply{code: -101}
		}
		return fakeReply{body: append(text(path), statBody(1, 1, 0)...)}
	})
	require.NoError(t, c.EnsureParents("/a/b"))

	c, server := connected(t, func(fakeRequest) fakeReply { return fakeReply{code: -101} })
	require.ErrorIs(t, c.EnsureParents("/a"), ErrNoNode, "bounded")
	require.NotEmpty(t, server.seen(opCreateContainer))
}

func TestEnsureParentsErrors(t *testing.T) {
	c, _ := connected(t, func(fakeRequest) fakeReply { return fakeReply{code: -108} })
	require.ErrorIs(t, c.EnsureParents("/a/b"), ErrNoChildrenForEphemerals)

	exists := func(code int32) func(r fakeRequest) fakeReply {
		return func(r fakeRequest) fakeReply {
			if r.op == opExists {
				return fakeReply{code: code, body: statBody(1, 1, 0)}
			}
			return fakeReply{code: -102}
		}
	}
	c, _ = connected(t, exists(0))
	require.NoError(t, c.EnsureParents("/a"), "may not be made, but is there")
	c, _ = connected(t, exists(-101))
	require.ErrorIs(t, c.EnsureParents("/a"), ErrNoAuth)
}

func TestCloseInterruptsEnsureParents(t *testing.T) {
	asked := make(chan struct{}, 1000)
	c, _ := connected(t, func(fakeRequest) fakeReply {
		asked <- struct{}{}
		return fakeReply{code: -101}
	})
	done := make(chan error, 1)
	go func() { done <- c.EnsureParents("/a") }()
	<-asked
	c.Close()
	require.Error(t, <-done)
}

// Operations under way when the connection is closed must not read what the library's receiver still writes.
func TestCloseDuringManyOperations(t *testing.T) {
	c, _ := connected(t, func(r fakeRequest) fakeReply {
		switch r.op {
		case opCreateContainer, opSync:
			return fakeReply{body: append(text("/base/a"), statBody(1, 1, 0)...)}
		}
		return fakeReply{code: -101}
	})
	errs := make(chan error, 60)
	for range cap(errs) / 3 {
		go func() { errs <- c.EnsureParents("/a") }()
		go func() { errs <- c.Sync("/a") }()
		go func() { errs <- second(c.CreatePlain("/a", "x", nil)) }()
	}
	<-errs
	c.Close()
	for range cap(errs) - 1 {
		<-errs
	}
}
