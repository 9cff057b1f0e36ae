package web

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// attempt is a request to ask a lock back that is as it should be, but for what is changed.
func attempt(d *Dashboard, change func(*http.Request), body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1:8080/revoke", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Origin", "http://127.0.0.1:8080")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	change(r)
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w
}

const good = `{"path":"/lock","holder":"1024","node":"n"}`

func TestRevoke(t *testing.T) {
	d, client := dashboard(t)
	w := attempt(d, func(*http.Request) {}, good)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	require.JSONEq(t, `{"asked":["holder"]}`, w.Body.String())
	require.Equal(t, []string{"/lock"}, client.revoked)
	w = attempt(d, func(r *http.Request) { r.Header.Del("Origin"); r.Header.Del("Sec-Fetch-Site") }, `{"path":"/lock"}`)
	require.Equal(t, http.StatusOK, w.Code, "a program that is no browser, such as curl")
	require.Len(t, client.revoked, 2)
}

// TestRevokeRefused: for each thing that is not as it should be nobody is asked, and it is said what is wrong.
func TestRevokeRefused(t *testing.T) {
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	as := func(*http.Request) {}
	for name, c := range map[string]struct {
		change func(*http.Request)
		body   string
		status int
	}{
		"GET":                     {func(r *http.Request) { r.Method = http.MethodGet }, good, http.StatusMethodNotAllowed},
		"PUT":                     {func(r *http.Request) { r.Method = http.MethodPut }, good, http.StatusMethodNotAllowed},
		"OPTIONS":                 {func(r *http.Request) { r.Method = http.MethodOptions }, good, http.StatusMethodNotAllowed},
		"cross-site":              {set("Sec-Fetch-Site", "cross-site"), good, http.StatusForbidden},
		"same-site":               {set("Sec-Fetch-Site", "same-site"), good, http.StatusForbidden},
		"another origin":          {func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "http://evil.example") }, good, http.StatusForbidden},
		"another port":            {func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "http://127.0.0.1:9") }, good, http.StatusForbidden},
		"an opaque origin":        {func(r *http.Request) { r.Header.Del("Sec-Fetch-Site"); r.Header.Set("Origin", "null") }, good, http.StatusForbidden},
		"another host":            {func(r *http.Request) { r.Host = "evil.example"; r.Header.Set("Origin", "http://evil.example") }, good, http.StatusMisdirectedRequest},
		"a form":                  {set("Content-Type", "application/x-www-form-urlencoded"), good, http.StatusUnsupportedMediaType},
		"text":                    {set("Content-Type", "text/plain"), good, http.StatusUnsupportedMediaType},
		"no token":                {func(r *http.Request) { r.Header.Del("Authorization") }, good, http.StatusUnauthorized},
		"an empty token":          {set("Authorization", "Bearer "), good, http.StatusUnauthorized},
		"a wrong token":           {set("Authorization", "Bearer 0123456789abcdeg"), good, http.StatusUnauthorized},
		"half a token":            {set("Authorization", "Bearer 01234567"), good, http.StatusUnauthorized},
		"another scheme":          {set("Authorization", "Basic "+token), good, http.StatusUnauthorized},
		"no body":                 {as, "", http.StatusBadRequest},
		"no JSON":                 {as, "path=/lock", http.StatusBadRequest},
		"a field too many":        {as, `{"path":"/lock","force":true}`, http.StatusBadRequest},
		"no path":                 {as, `{}`, http.StatusBadRequest},
		"a bad path":              {as, `{"path":"lock"}`, http.StatusBadRequest},
		"a body without end":      {as, `{"path":"/` + strings.Repeat("x", 9000) + `"}`, http.StatusBadRequest},
		"somebody else holds now": {as, `{"path":"/lock","holder":"2048"}`, http.StatusConflict},
		"of one transaction":      {as, `{"path":"/lock","holder":"1024","node":"before-n"}`, http.StatusConflict},
		"a node without a token":  {as, `{"path":"/lock","node":"before-n"}`, http.StatusConflict},
	} {
		t.Run(name, func(t *testing.T) {
			d, client := dashboard(t)
			w := attempt(d, c.change, c.body)
			require.Equal(t, c.status, w.Code, w.Body)
			require.Contains(t, w.Body.String(), `"error":"`)
			require.Empty(t, client.revoked)
			require.Empty(t, w.Header().Get("Access-Control-Allow-Origin"))
		})
	}
}

// TestNoToken: a dashboard without a token writes nothing, for any request; not even for one with
// an empty token.
func TestNoToken(t *testing.T) {
	d, client := dashboard(t, func(s *Settings) { s.Token = "" })
	for _, authorization := range []string{"", "Bearer ", "Bearer " + token, "Bearer"} {
		w := attempt(d, func(r *http.Request) { r.Header.Set("Authorization", authorization) }, good)
		require.Equal(t, http.StatusForbidden, w.Code)
	}
	require.Empty(t, client.revoked)
}

func TestNobodyHolds(t *testing.T) {
	d, client := dashboard(t)
	client.queue = nil
	w := attempt(d, func(*http.Request) {}, good)
	require.Equal(t, http.StatusConflict, w.Code)
	require.Contains(t, w.Body.String(), "Nobody holds")
}
