package embedded

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// authenticate adds an identity to the connection. A client that cannot prove one is told so, and
// cut off.
func (c *conn) authenticate(xid int32, d *decoder) bool {
	d.int32()
	scheme := d.text()
	secret := d.bytes()
	if d.err != nil {
		return false
	}
	var who identity
	switch {
	case scheme == "digest" && secret != nil:
		who = identity{"digest", digest(string(secret))}
	case scheme == "ip":
		who = c.who[0]
	default:
		c.reply(xid, 0, codeAuthFailed, nil)
		return false
	}
	if !slices.Contains(c.who, who) {
		c.who = append(c.who, who)
	}
	c.reply(xid, 0, codeOK, nil)
	return true
}

// WithSASL makes the server speak SASL: DIGEST-MD5 for these users, with their passwords, as with a
// JAAS file that names DigestLoginModule, and the scheme "sasl" in access lists. A user's name must
// not contain / or @, which would make it a Kerberos principal, nor a colon.
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

// shows reports whether the client has shown an identity of that scheme.
func (c *conn) shows(scheme string) bool {
	for _, who := range c.who {
		if who.scheme == scheme {
			return true
		}
	}
	return false
}
