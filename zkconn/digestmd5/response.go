package digestmd5

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// response is the client's answer to a challenge (RFC 2831, section 2.1.2). It asks neither for
// protection of later messages nor to act for somebody else.
type response struct {
	challenge
	user     string
	realm    string // empty: the server has offered none
	cnonce   string
	uri      string
	password func() string
}

// count is nc: how often the client has answered with this nonce.
const count = "00000001"

func (r response) encode() ([]byte, error) {
	var out []string
	user := r.user
	if r.utf8 {
		out = append(out, "charset=utf-8")
	} else {
		latin, ok := latin1(user)
		if !ok {
			return nil, fmt.Errorf("user %q: has characters that are not in ISO 8859-1, and the server takes no UTF-8", user)
		}
		user = latin
	}
	out = append(out, "username="+quote(user))
	if r.realm != "" {
		out = append(out, "realm="+quote(r.realm)) // as it came, in any character set
	}
	return []byte(strings.Join(append(out,
		"nonce="+quote(r.nonce), "nc="+count, "cnonce="+quote(r.cnonce), "digest-uri="+quote(r.uri),
		"response="+r.digest("AUTHENTICATE:"), "qop=auth"), ",")), nil
}

// digest is response-value: the client's with "AUTHENTICATE:", the server's with ":".
func (r response) digest(method string) string {
	secret := md5.Sum([]byte(asHashed(r.user) + ":" + r.hashedRealm() + ":" + asHashed(r.password())))
	a1 := hash(string(secret[:]) + ":" + r.nonce + ":" + r.cnonce)
	a2 := hash(method + r.uri)
	return hash(strings.Join([]string{a1, r.nonce, count, r.cnonce, "auth", a2}, ":"))
}

func (r response) hashedRealm() string {
	if r.utf8 {
		return asHashed(r.realm)
	}
	return r.realm
}

func hash(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// asHashed gives a text as it goes into the hash: in ISO 8859-1 where that is possible, in UTF-8 otherwise.
func asHashed(text string) string {
	if latin, ok := latin1(text); ok {
		return latin
	}
	return text
}

// latin1 turns UTF-8 into ISO 8859-1; ok is false if that lacks a character.
func latin1(text string) (latin string, ok bool) {
	if !utf8.ValidString(text) {
		return "", false
	}
	out := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return "", false
		}
		out = append(out, byte(r))
	}
	return string(out), true
}

func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
