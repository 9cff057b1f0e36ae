package embedded

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"maps"
	"strings"
)

// WithSASL makes the server speak SASL: DIGEST-MD5 for these users, with their passwords, as with a JAAS file that
// names DigestLoginModule, and the scheme "sasl" in access lists. A user's name has none of / and @, which would
// make a Kerberos principal of it, and no colon.
func WithSASL(passwords map[string]string) Option {
	return func(s *settings) {
		kept := maps.Clone(passwords)
		s.sasl = func(user string) (password string, known bool) {
			password, known = kept[user]
			return password, known
		}
		for user, password := range kept {
			if user == "" || password == "" || strings.ContainsAny(user, "/@:") {
				s.unfit = fmt.Errorf("embedded: user %q: a name without / @ and :, and a password, must not be empty", user)
			}
		}
	}
}

// WithSASLRequired closes connections of clients that have not authenticated with SASL at their first request, as
// sessionRequireClientSASLAuth=true does.
func WithSASLRequired() Option { return func(s *settings) { s.saslRequired = true } }

// schemeSASL is that of identities that were shown with SASL.
const schemeSASL = "sasl"

// sasl carries out one request of an exchange. It touches nothing: the leader does not hear of it.
func (c *conn) sasl(xid int32, d *decoder) bool {
	token := d.bytes()
	if token == nil || d.err != nil {
		return false
	}
	if c.e.settings.sasl == nil { // as a server does that has no SASL configured: with nothing
		c.reply(xid, 0, codeOK, func(e *encoder) { e.bytes(nil) })
		return true
	}
	answer, refused := c.exchange.step(token, c.e.settings.sasl)
	if refused == codeHangUp {
		return false
	}
	if refused != codeOK {
		if c.e.saslRequired {
			refused = codeRequiresSASL
		}
		c.reply(xid, 0, refused, func(e *encoder) { e.bytes(nil) })
		return false
	}
	if c.exchange.user != "" && !c.shows(schemeSASL) {
		c.who = append(c.who, identity{schemeSASL, c.exchange.user})
	}
	c.reply(xid, 0, codeOK, func(e *encoder) { e.bytes(answer) })
	return true
}

// shows says whether the client has shown an identity of that scheme.
func (c *conn) shows(scheme string) bool {
	for _, who := range c.who {
		if who.scheme == scheme {
			return true
		}
	}
	return false
}

// saslPhase is how far an exchange is.
type saslPhase int

const (
	saslFresh saslPhase = iota
	saslChallenged
	saslOver // one way or the other: what else comes is refused
)

// codeHangUp stands for no answer at all.
const codeHangUp code = 1

// digestExchange is the server's side of DIGEST-MD5 (RFC 2831), as Java's DigestMD5Server has it.
type digestExchange struct {
	phase saslPhase
	nonce string
	user  string // who has been authenticated
}

// step answers a token.
func (x *digestExchange) step(token []byte, passwordOf func(string) (string, bool)) ([]byte, code) {
	if len(token) > maxDigestResponse {
		return nil, codeAuthFailed
	}
	switch x.phase {
	case saslFresh: // what it begins with does not count
		x.phase = saslChallenged
		var nonce [30]byte
		_, _ = rand.Read(nonce[:])
		x.nonce = base64.StdEncoding.EncodeToString(nonce[:])
		return []byte(`realm="` + digestRealm + `",nonce="` + x.nonce + `",charset=utf-8,algorithm=md5-sess`), codeOK
	case saslChallenged:
		x.phase = saslOver
		r, ok, closes := parseDigestResponse(token)
		switch {
		case closes || ok && r.nonce == x.nonce && r.user == "":
			return nil, codeHangUp
		case !ok || r.nonce != x.nonce:
			return nil, codeAuthFailed
		}
		password, known := passwordOf(r.user)
		if !known || r.response != r.digest("AUTHENTICATE:", password) {
			return nil, codeAuthFailed
		}
		x.user = r.user
		return []byte("rspauth=" + r.digest(":", password)), codeOK
	}
	return nil, codeAuthFailed
}
