package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/turnstile-locks/turnstile/examples/dashboard/board"
	"github.com/turnstile-locks/turnstile/locks"
	"github.com/turnstile-locks/turnstile/messages"
	"github.com/turnstile-locks/turnstile/zkconn"
)

// order is the body of a request to ask a lock back.
type order struct {
	Path string `json:"path"`
	// Holder is the token of the holder that the person saw. Where somebody else holds by now
	// nobody is asked. "" asks all that hold, as is sensible where many do.
	Holder string `json:"holder"`
	// Node is that holder's node: nodes of one transaction have one token, as far as it is known
	// from outside. "" looks at the token alone.
	Node string `json:"node"`
}

// longestOrder bounds such a body.
const longestOrder = 8 << 10

// revokeLimit bounds the time that ZooKeeper may take.
const revokeLimit = 15 * time.Second

// otherOrigins finds requests of other sites' pages: by Sec-Fetch-Site, or else by Origin and Host.
var otherOrigins = http.NewCrossOriginProtection()

// revoke asks a lock back.
func (d *Dashboard) revoke(w http.ResponseWriter, r *http.Request) {
	status, why := d.allow(r)
	if status != http.StatusOK {
		d.Log.Warn("revoke refused", "status", status, "why", why, "from", r.RemoteAddr, "origin", r.Header.Get("Origin"))
		switch status {
		case http.StatusMethodNotAllowed:
			w.Header().Set("Allow", http.MethodPost)
		case http.StatusUnauthorized:
			w.Header().Set("WWW-Authenticate", `Bearer realm="revoke"`)
		}
		refuse(w, status, why)
		return
	}
	var o order
	body := json.NewDecoder(http.MaxBytesReader(w, r.Body, longestOrder))
	body.DisallowUnknownFields()
	if err := body.Decode(&o); err != nil {
		refuse(w, http.StatusBadRequest, "The body has to be JSON with a path: "+err.Error())
		return
	}
	if _, err := body.Token(); !errors.Is(err, io.EOF) {
		refuse(w, http.StatusBadRequest, "The body has to be JSON with a path, and nothing after it.")
		return
	}
	if status, why := d.within(o.Path); status != http.StatusOK {
		d.Log.Warn("revoke refused", "status", status, "why", why, "from", r.RemoteAddr, "path", o.Path)
		refuse(w, status, why)
		return
	}
	endReading(w) // ZooKeeper may take longer than a request
	asked, err := d.sendRevokeRequest(r.Context(), o)
	d.Log.Info("revoke", "path", o.Path, "holder", o.Holder, "asked", len(asked), "from", r.RemoteAddr, "error", err)
	names := make([]string, 0, len(asked))
	for _, c := range asked {
		names = append(names, board.Name(c))
	}
	switch {
	case err == nil:
		answer(w, http.StatusOK, map[string]any{"asked": names})
	case errors.Is(err, locks.ErrNotHolding):
		refuse(w, http.StatusConflict, "Nobody holds the lock, so there was nobody to ask.")
	case errors.Is(err, errOther):
		refuse(w, http.StatusConflict, "Somebody else holds the lock by now. Nobody was asked: look again.")
	case errors.Is(err, zkconn.ErrNoAuth):
		refuse(w, http.StatusBadGateway, "ZooKeeper does not let the dashboard write to a holder's node. Asked: "+
			orNobody(names)+".")
	default:
		refuse(w, http.StatusBadGateway, "ZooKeeper did not do it: "+err.Error())
	}
}

func orNobody(names []string) string {
	if len(names) == 0 {
		return "nobody"
	}
	return strings.Join(names, ", ")
}

// allow reports whether a request may write, and if not why.
func (d *Dashboard) allow(r *http.Request) (status int, why string) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case r.Method != http.MethodPost:
		return http.StatusMethodNotAllowed, "To ask a lock back takes a POST."
	case otherOrigins.Check(r) != nil:
		return http.StatusForbidden, "Only the dashboard's own page may do that."
	case d.Token == "":
		return http.StatusForbidden, "The dashboard was started without a revoke token: it is read-only."
	case kind != "application/json":
		return http.StatusUnsupportedMediaType, "The content type has to be application/json."
	case !d.knows(r.Header.Get("Authorization")):
		return http.StatusUnauthorized, "That is not the token that the dashboard was started with."
	}
	return http.StatusOK, ""
}

// knows compares the token. How long it takes tells nothing, not even of the token's length.
func (d *Dashboard) knows(authorization string) bool {
	scheme, token, _ := strings.Cut(authorization, " ")
	given, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(d.Token))
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare(given[:], want[:]) == 1
}

// errOther: the holder is not the one that the person saw.
var errOther = errors.New("somebody else holds the lock")

// sendRevokeRequest asks the holders. Between looking who holds and asking, another may come to hold. That cannot be
// ruled out from outside, and asking takes nothing away.
func (d *Dashboard) sendRevokeRequest(ctx context.Context, o order) ([]messages.Contender, error) {
	ctx, cancel := context.WithTimeout(ctx, revokeLimit)
	defer cancel()
	if o.Holder != "" || o.Node != "" {
		queue, err := d.Client.Queue(ctx, o.Path)
		if err != nil {
			return nil, err
		}
		holds := func(c messages.Contender) bool { return c.Holds }
		if slices.ContainsFunc(queue, holds) && !slices.ContainsFunc(queue, func(c messages.Contender) bool {
			return c.Holds && (o.Holder == "" || c.Token.String() == o.Holder) && (o.Node == "" || c.Node == o.Node)
		}) {
			return nil, errOther
		}
	}
	return d.Client.Revoke(ctx, o.Path)
}
