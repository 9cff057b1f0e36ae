package web

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRoot: a lock outside the root is neither read nor revoked, however its path is written.
func TestRoot(t *testing.T) {
	for path, status := range map[string]int{
		"/app": http.StatusOK, "/app/orders": http.StatusOK, "/app/a/b": http.StatusOK,
		"/apples": http.StatusForbidden, "/secret": http.StatusForbidden, "/secret/app": http.StatusForbidden,
		"/app/../secret": http.StatusBadRequest, "/app/./x": http.StatusBadRequest, "/app//x": http.StatusBadRequest,
		"/": http.StatusBadRequest, "app/x": http.StatusBadRequest, "": http.StatusBadRequest,
	} {
		t.Run(path, func(t *testing.T) {
			opened := []string{}
			d, client := dashboard(t, func(s *Settings) {
				s.Root, s.Open = "/app", func(path string) func() { opened = append(opened, path); return func() {} }
			})
			body, err := json.Marshal(order{Path: path})
			require.NoError(t, err)
			asked := attempt(d, func(*http.Request) {}, string(body))
			require.Equal(t, status, asked.Code, asked.Body)

			gone, leave := context.WithCancel(t.Context())
			leave() // a stream that is let in sends what there is, and ends
			stream := httptest.NewRecorder()
			d.ServeHTTP(stream, httptest.NewRequestWithContext(gone, http.MethodGet,
				"http://127.0.0.1:8080/events/lock?path="+url.QueryEscape(path), nil))
			require.Equal(t, status, stream.Code, stream.Body)

			if status == http.StatusOK {
				require.Equal(t, []string{path}, client.revoked)
				require.Equal(t, []string{path}, opened)
				return
			}
			require.Empty(t, client.revoked)
			require.Empty(t, opened)
			if status == http.StatusForbidden {
				for _, answer := range []*httptest.ResponseRecorder{asked, stream} {
					require.JSONEq(t, `{"error":"This dashboard shows the locks below /app only; `+path+` is not one of them."}`, answer.Body.String())
				}
			}
		})
	}
}
