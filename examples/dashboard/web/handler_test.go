package web

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/turnstile-locks/turnstile/examples/dashboard/board"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/tests/scene"
)

const token = "0123456789abcdef"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a client of which it is known what it was asked.
type fake struct {
	queue   []messages.Contender
	revoked []string
}

func (f *fake) Queue(context.Context, string) ([]messages.Contender, error) { return f.queue, nil }

func (f *fake) Revoke(_ context.Context, path string) ([]messages.Contender, error) {
	f.revoked = append(f.revoked, path)
	if len(f.queue) == 0 {
		return nil, locks.ErrNotHolding
	}
	return f.queue[:1], nil
}

func dashboard(t *testing.T, change ...func(*Settings)) (*Dashboard, *fake) {
	client := &fake{queue: []messages.Contender{{Path: "/lock", Node: "n", Token: 1024, Holds: true, Label: "holder"}}}
	s := Settings{Board: board.New("/"), Client: client, Root: "/", Open: func(string) func() { return func() {} }, Token: token,
		Servers: "zk:2181", Log: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&s)
	}
	d := New(s)
	t.Cleanup(d.Close)
	return d, client
}

// get asks for a page as a browser would.
func get(d *Dashboard, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1:8080"+path, nil)
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

// TestPages: each page and each file that it names is served, with the headers that keep others' scripts out.
func TestPages(t *testing.T) {
	d, _ := dashboard(t)
	named := regexp.MustCompile(`(?:src|href|from)="?\s?"(/?[./a-z]+\.(?:js|css|svg))"|from "\./([a-z]+\.js)"|(?:src|href)="(/[a-z]+\.(?:js|css|svg))"`)
	seen := map[string]bool{}
	for left := []string{"/", "/lock?path=/a"}; len(left) > 0; left = left[1:] {
		path := left[0]
		if seen[path] {
			continue
		}
		seen[path] = true
		w := get(d, path)
		require.Equal(t, http.StatusOK, w.Code, path)
		policy := w.Header().Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'none'", "trusted-types 'none'"} {
			require.Contains(t, policy, part)
		}
		require.NotContains(t, policy, "unsafe")
		require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
		require.Equal(t, "no-referrer", w.Header().Get("Referrer-Policy"))
		require.Empty(t, w.Header().Get("Access-Control-Allow-Origin"))
		body := w.Body.String()
		require.NotRegexp(t, `https?:|"//`, strings.ReplaceAll(body, "http://www.w3.org/2000/svg", ""), "%s loads from elsewhere", path)
		require.NotRegexp(t, `\son[a-z]+=|style="|<script>|innerHTML|eval\(`, body, "%s has what the policy forbids", path)
		for _, m := range named.FindAllStringSubmatch(body, -1) {
			for _, name := range m[1:] {
				if name != "" {
					left = append(left, "/"+strings.TrimPrefix(name, "/"))
				}
			}
		}
		require.Equal(t, http.StatusNotModified, get(d, path, "If-None-Match", w.Header().Get("ETag")).Code, path)
	}
	require.GreaterOrEqual(t, len(seen), 12, "%v", seen)
	require.Equal(t, http.StatusNotFound, get(d, "/assets/index.html").Code)
	require.Equal(t, http.StatusNotFound, get(d, "/nothing").Code)
}

// TestHosts: a name that leads here without our knowing is another site's.
func TestHosts(t *testing.T) {
	d, _ := dashboard(t, func(s *Settings) { s.Hosts = []string{"locks.example"} })
	for host, want := range map[string]int{
		"localhost:8080": http.StatusOK, "127.0.0.1:8080": http.StatusOK, "[::1]:8080": http.StatusOK, "[::1]": http.StatusOK,
		"10.1.2.3": http.StatusOK, "locks.example": http.StatusOK, "LOCKS.example:443": http.StatusOK,
		"evil.example": http.StatusMisdirectedRequest, "evil.example:8080": http.StatusMisdirectedRequest,
		"localhost.evil.example": http.StatusMisdirectedRequest, "": http.StatusMisdirectedRequest,
	} {
		require.Equal(t, want, get(d, "/", "Host", host).Code, host)
	}
}

// event reads the next server-sent event of a stream.
func event(t *testing.T, lines *bufio.Reader) (name string, data map[string]json.RawMessage) {
	t.Helper()
	for {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		switch field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); field {
		case "event":
			name = value
		case "data":
			require.NoError(t, json.Unmarshal([]byte(value), &data))
		case "":
			return name, data
		default:
			t.Fatalf("no field of an event: %q", line)
		}
	}
}

// TestStream: at first all there is, then what changes, and the end when the dashboard ends.
func TestStream(t *testing.T) {
	d, _ := dashboard(t)
	server := httptest.NewServer(d)
	defer server.Close()
	request, err := http.NewRequestWithContext(scene.Deadline(t), http.MethodGet, server.URL+"/events/lock?path=/lock", nil)
	require.NoError(t, err)
	response, err := server.Client().Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	require.Equal(t, "no-store", response.Header.Get("Cache-Control"))
	lines := bufio.NewReader(response.Body)
	name, data := event(t, lines)
	require.Equal(t, "view", name)
	require.JSONEq(t, `{"servers":"zk:2181","revoke":true}`, string(data["page"]))
	require.NotContains(t, data, "lists", "there is nobody")

	// A line break in a label must not end the event.
	d.Board.TakeQueue(time.Now(), &messages.Queue{Path: "/lock", Contenders: []messages.Contender{
		{Path: "/lock", Node: "n-1", Holds: true, Label: "a\n\ndata: {}", Token: 1}, {Path: "/lock", Node: "n-2", Token: 2, Label: "waiter"}}})
	for data = nil; data["lists"] == nil; { // figures alone may come before, after a stall
		_, data = event(t, lines)
		require.NotContains(t, data, "page")
	}
	var lists map[string]change
	require.NoError(t, json.Unmarshal(data["lists"], &lists))
	require.Contains(t, string(lists["holders"].Set[0]), `"who":"a\n\ndata: {}"`)
	require.Equal(t, []string{"n-2"}, lists["waiters"].Order)
	require.Equal(t, []int{1}, lists["waiters"].Positions)

	d.Board.TakeQueue(time.Now(), &messages.Queue{Path: "/lock", Contenders: []messages.Contender{{Path: "/lock", Node: "n-2", Token: 2, Label: "waiter", Holds: true}}})
	for lists = nil; lists["holders"].Order == nil; { // figures of the last seconds may come between
		lists = nil
		_, data = event(t, lines)
		if data["lists"] != nil {
			require.NoError(t, json.Unmarshal(data["lists"], &lists))
		}
	}
	require.Equal(t, []string{"n-1"}, lists["holders"].Gone)
	require.Equal(t, []string{"n-2"}, lists["holders"].Order)
	require.Equal(t, []string{"n-2"}, lists["waiters"].Gone)
	d.Close()
	_, err = io.Copy(io.Discard, lines)
	require.NoError(t, err, "the stream has an end")
}

// TestStreamsAreBounded: too many pages are refused, and not served badly.
func TestStreamsAreBounded(t *testing.T) {
	d, _ := dashboard(t)
	for range mostStreams {
		d.streams <- struct{}{}
	}
	w := get(d, "/events")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.NotEmpty(t, w.Header().Get("Retry-After"))
}

func TestBadStreams(t *testing.T) {
	d, _ := dashboard(t)
	for path, want := range map[string]int{
		"/events?locks=0": http.StatusBadRequest, "/events?locks=x": http.StatusBadRequest, "/events?word=" + strings.Repeat("x", 201): http.StatusBadRequest,
		"/events/lock": http.StatusBadRequest, "/events/lock?path=relative": http.StatusBadRequest, "/events/lock?path=/a/../b": http.StatusBadRequest,
		"/events/lock?path=/a&waiters=-1": http.StatusBadRequest,
	} {
		w := get(d, path)
		require.Equal(t, want, w.Code, path)
		require.Contains(t, w.Body.String(), `"error":`, path)
	}
	for _, site := range []string{"cross-site", "same-site"} {
		require.Equal(t, http.StatusForbidden, get(d, "/events", "Sec-Fetch-Site", site).Code)
	}
}
