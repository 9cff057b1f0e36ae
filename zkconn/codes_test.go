package zkconn

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"
)

// grants has a server grant a timeout, in milliseconds.
func grants(millis uint32) func(*fakeServer) { return func(s *fakeServer) { s.grants = millis } }

// codeRow is a row of the table in the package doc.
type codeRow struct {
	code    int32
	name    string
	value   error
	outcome Outcome
	proves  verdict
}

// codeRows reads the table in the package doc, which has each code of KeeperException.Code in ZooKeeper 3.9.5.
func codeRows(t *testing.T) (rows []codeRow) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	values := map[string]error{"ctx": ErrUnknownOutcome, "ErrRefused": ErrRefused, "ErrNoNode": ErrNoNode, "ErrNoAuth": ErrNoAuth,
		"ErrBadVersion": ErrBadVersion, "ErrNoChildrenForEphemerals": ErrNoChildrenForEphemerals, "ErrNodeExists": ErrNodeExists,
		"ErrNotEmpty": ErrNotEmpty, "ErrAuthFailed": ErrAuthFailed, "ErrSessionMoved": ErrSessionMoved, "ErrReadOnly": ErrReadOnly,
		"ErrLocalSession": ErrLocalSession, "ErrQuota": ErrQuota, "ErrThrottled": ErrThrottled}
	meanings := map[string]Outcome{"fails": Refused, "own": Refused, "repeats": Deferred, "resolves": Unknown}
	proofs := map[string]verdict{"no": undecided, "yes": decided, "in part": decidedInPart, "ended": ended, "moved": moved}
	for _, row := range regexp.MustCompile(`(?m)^//\t(-\d+) (\w+) +(no|perhaps) +(yes|in part|no|ended|moved) +(\w+) +(\w+)`).FindAllStringSubmatch(string(doc), -1) {
		code, err := strconv.Atoi(row[1])
		require.NoError(t, err)
		r := codeRow{int32(code), row[2], values[row[6]], meanings[row[5]], proofs[row[4]]}
		require.NotNil(t, r.value, "%s", row)
		require.Equal(t, r.outcome == Unknown, row[3] == "perhaps", "%s", row)
		rows = append(rows, r)
	}
	require.Len(t, rows, 31)
	for _, row := range outcomes {
		known := row.of != anything || row.code == 0 || slices.ContainsFunc(rows, func(r codeRow) bool { return r.code == row.code })
		require.True(t, known, "%d is not in the package doc", row.code)
	}
	return rows
}

// TestCodes has a server answer with each code: to single requests, and to a transaction in the header and in a part.
func TestCodes(t *testing.T) {
	rows := codeRows(t)
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, row.proves, verdictOf(row.code))
			var inPart atomic.Bool
			c, _ := connected(t, func(r fakeRequest) fakeReply {
				if r.op == opMulti && inPart.Load() {
					code := []byte{255, 255, 255, byte(row.code)}
					return fakeReply{body: concat(multiPart(-1, row.code, code), multiEnd())}
				}
				return fakeReply{code: row.code}
			}, grants(1200))
			check := func(err error) {
				t.Helper()
				if row.code == codeSessionMoved && errors.Is(err, zk.ErrConnectionClosed) {
					require.Equal(t, Unknown, OutcomeOf(err)) // the connection is given up, perhaps before the library reads
					return
				}
				require.ErrorIs(t, err, row.value)
				require.Equal(t, row.outcome, OutcomeOf(err), "%v", err)
				require.Equal(t, row.proves == decided || row.proves == decidedInPart, CommittedRefusal(err), "%v", err)
				unclear := row.outcome == Unknown
				require.Equal(t, row.outcome == Deferred || unclear, Trouble(err) != "", "%v", err)
				said := row.code != codeSessionExpired && row.code != -100 // the library says those two as well
				require.Equal(t, unclear && said, errors.Is(err, ErrServerError), "%v", err)
				for _, other := range rows {
					require.Equal(t, errors.Is(row.value, other.value), errors.Is(err, other.value), "%v", other.value)
				}
			}
			err := c.Delete("/a")
			check(err)
			if row.code == codeSessionExpired { // nothing more is sent
				_, _, err = c.Get("/a")
				require.Equal(t, NotSent, OutcomeOf(err), "%v", err)
				return
			}
			_, _, err = c.Get("/a")
			check(err)
			if row.value != ErrNodeExists {
				check(c.EnsureParents("/a"))
			}
			_, err = c.Commit(nil, []string{"/a"}, nil, nil)
			check(err)
			inPart.Store(true)
			_, err = c.Commit(nil, []string{"/a"}, nil, nil)
			check(err)
		})
	}
}

// TestThrottledRequestsAreSentAgain until they are carried out: each kind of request.
func TestThrottledRequestsAreSentAgain(t *testing.T) {
	var refusals atomic.Int32
	c, server := connected(t, func(r fakeRequest) fakeReply {
		if refusals.Add(-1) >= 0 {
			return fakeReply{code: codeThrottled}
		}
		switch r.op {
		case opCreate, opCreateContainer, opSync:
			return fakeReply{body: text("/base/a")}
		case opGetData:
			return fakeReply{body: concat(text("data"), statBody(1, 2, 0))}
		case opExists, opSetData:
			return fakeReply{body: statBody(1, 2, 0)}
		case opGetChildren2:
			return fakeReply{body: concat([]byte{0, 0, 0, 0}, statBody(1, 2, 0))}
		case opMulti:
			return fakeReply{body: concat(multiPart(opCheck, 0, nil), multiEnd())}
		}
		return fakeReply{}
	})
	for name, c := range map[string]struct {
		op   int32
		send func() error
	}{
		"delete":           {opDelete, func() error { return c.Delete("/a") }},
		"delete at":        {opDelete, func() error { return c.DeleteAt("/a", 1) }},
		"list":             {opGetChildren2, func() error { _, err := c.Children("/a"); return err }},
		"list, watched":    {opGetChildren2, func() error { _, err := c.ChildrenWatched("/a"); return err }},
		"list of the root": {opGetChildren2, func() error { _, err := c.RootChildren(); return err }},
		"sync":             {opSync, func() error { return c.Sync("/a") }},
		"exists":           {opExists, func() error { _, _, err := c.Exists("/a"); return err }},
		"exists, watched":  {opExists, func() error { _, _, err := c.ExistsWatched("/a"); return err }},
		"get":              {opGetData, func() error { _, _, err := c.Get("/a"); return err }},
		"get, watched":     {opGetData, func() error { _, _, err := c.GetWatched("/a"); return err }},
		"set":              {opSetData, func() error { return c.SetData("/a", nil) }},
		"set at":           {opSetData, func() error { return c.SetDataAt("/a", nil, 1) }},
		"heartbeat":        {opMulti, func() error { return c.Heartbeat("/a") }},
		"catch up":         {opMulti, func() error { return c.CatchUp("/a") }},
		"create":           {opCreate, func() error { _, err := c.CreatePlain("/a", "x-", nil); return err }},
		"container":        {opCreateContainer, func() error { return c.EnsureParents("/a") }},
	} {
		t.Run(name, func(t *testing.T) {
			before := len(server.seen(c.op))
			refusals.Store(3)
			require.NoError(t, c.send())
			require.Len(t, server.seen(c.op), before+4)
		})
	}
}

// TestThrottledForLong: the caller hears of it.
func TestThrottledForLong(t *testing.T) {
	c, server := connected(t, func(fakeRequest) fakeReply { return fakeReply{code: codeThrottled} }, grants(2400))
	begun := time.Now()
	_, _, err := c.Get("/a")
	require.ErrorIs(t, err, ErrThrottled)
	require.GreaterOrEqual(t, len(server.seen(opGetData)), 2)
	require.Less(t, len(server.seen(opGetData)), 20, "in %v", time.Since(begun))
	require.Equal(t, "the server is throttled and does not carry out get /a", Trouble(err))
}

// TestThrottledAndClosed: Close does not wait for a server that is throttled for an hour. A Close between two attempts
// leaves the answer to the last one, which was not carried out. A Close after the next one was sent leaves its outcome
// unknown.
func TestThrottledAndClosed(t *testing.T) {
	const hour = 3_600_000
	c, _ := connected(t, nil, grants(hour))
	sent := 0
	err := c.patiently(func() error {
		sent++
		_ = c.Close()
		return ErrThrottled
	})
	require.Equal(t, 1, sent)
	require.ErrorIs(t, err, ErrThrottled)

	asked := 0
	c, server := connected(t, func(fakeRequest) fakeReply {
		asked++
		return fakeReply{code: codeThrottled, silent: asked == 2}
	}, grants(hour))
	failed := make(chan error, 1)
	go func() {
		_, _, err := c.Get("/a")
		failed <- err
	}()
	require.Eventually(t, func() bool { return len(server.seen(opGetData)) == 2 }, minute, tick)
	_ = c.Close()
	err = <-failed
	require.NotErrorIs(t, err, ErrThrottled)
	require.ErrorIs(t, err, zk.ErrConnectionClosed)
	require.Equal(t, Unknown, OutcomeOf(err))
}

// TestHangUps: an operation says that the server hung up on it, and on what. Its outcome is unknown, and a create is not
// kept in mind.
func TestHangUps(t *testing.T) {
	c, _ := connected(t, func(r fakeRequest) fakeReply { return fakeReply{silent: true, cut: r.op == opCreate} })
	_, err := c.CreatePlain("/q", "x-", nil)
	require.ErrorIs(t, err, ErrHungUp)
	require.NotErrorIs(t, err, ErrNoAnswer)
	require.ErrorIs(t, err, zk.ErrConnectionClosed)
	require.NotErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, err, ErrUnknownOutcome)
	require.Equal(t, Unknown, OutcomeOf(err))
	requireNoBirths(t, c)
	require.Equal(t, "the server hangs up on create /q/x-", Trouble(err))
	require.Equal(t, "the server hangs up on create /q/x-", Trouble(fmt.Errorf("wrapped: %w", err)))
	require.Empty(t, Trouble(nil))
	require.Empty(t, Trouble(&Error{"get", "/a", ErrNoNode}))
}

// TestHangUpOnTransaction names the guard.
func TestHangUpOnTransaction(t *testing.T) {
	c, _ := connected(t, func(r fakeRequest) fakeReply { return fakeReply{silent: true, cut: true} })
	_, _, err := c.Txn(Guard{"/q/x-0000000001", -1}, []Op{{Kind: OpSet, Path: "/d", Version: -1}})
	require.ErrorIs(t, err, ErrHungUp)
	require.Equal(t, "the server hangs up on transaction /q/x-0000000001", Trouble(err))
}

// TestNoAnswer: so does one on a connection that was given up because nothing came.
func TestNoAnswer(t *testing.T) {
	c, _ := connected(t, nil, grants(300), func(s *fakeServer) { s.deaf = true })
	_, err := c.Children("/q")
	require.ErrorIs(t, err, ErrNoAnswer)
	require.NotErrorIs(t, err, ErrHungUp)
	require.Equal(t, Unknown, OutcomeOf(err))
	require.Equal(t, "the server does not answer list /q", Trouble(err))
}

// TestContainersThatAreNotMade: persistent nodes are made in their place when the server says that it knows no
// containers, that the arguments are bad, or hangs up twice in a row.
func TestContainersThatAreNotMade(t *testing.T) {
	for name, row := range map[string]struct {
		container fakeReply
		failures  int // of EnsureParents, before it makes a persistent node
	}{
		"unimplemented": {fakeReply{code: codeUnimplemented}, 0},
		"bad arguments": {fakeReply{code: -8}, 0},
		"hangs up":      {fakeReply{silent: true, cut: true}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var log lockedBuffer
			server := newFakeServer(t)
			server.handle = func(r fakeRequest) fakeReply {
				switch r.op {
				case opCreateContainer:
					return row.container
				case opCreate:
					return fakeReply{body: text("/base/a")}
				}
				return fakeReply{}
			}
			c, events := dialFake(t, server, "zk1/base", WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			expect(t, events, Connected)
			for range row.failures {
				err := c.EnsureParents("/a")
				require.ErrorIs(t, err, ErrHungUp)
				require.Equal(t, "the server hangs up on create container /a", Trouble(err))
			}
			for range 3 {
				require.NoError(t, c.EnsureParents("/a"))
			}
			require.Len(t, server.seen(opCreateContainer), max(row.failures, 1))
			require.Len(t, server.seen(opCreate), 3)
			require.True(t, c.cfg.Told().Wait(t.Context()))
			require.Equal(t, 1, strings.Count(log.String(), "knows no container nodes"), "%s", log.String())
		})
	}
}

// TestOneHangUpOnContainer says nothing: the connection may have been lost for another reason.
func TestOneHangUpOnContainer(t *testing.T) {
	var cuts atomic.Int32
	c, server := connected(t, func(r fakeRequest) fakeReply {
		cut := cuts.Add(-1) >= 0
		return fakeReply{silent: cut, cut: cut, body: text("/base/a")}
	})
	for range 5 {
		cuts.Store(1)
		require.ErrorIs(t, c.EnsureParents("/a"), ErrHungUp)
		require.NoError(t, c.EnsureParents("/a"))
	}
	require.Len(t, server.seen(opCreateContainer), 10)
	require.Empty(t, server.seen(opCreate))
}

// lockedBuffer is a buffer that may be written to from any goroutine.
type lockedBuffer struct {
	mu  sync.Mutex
	all strings.Builder
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}
