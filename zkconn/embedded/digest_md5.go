package embedded

import (
	"crypto/md5"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

// saslPhase is the phase of an exchange.
type saslPhase int

const (
	saslFresh saslPhase = iota
	saslChallenged
	saslOver // it has succeeded or failed: further tokens are refused
)

// codeHangUp stands for no answer at all.
const codeHangUp code = 1

// digestExchange is the server's side of DIGEST-MD5 (RFC 2831), as Java's DigestMD5Server has it.
type digestExchange struct {
	phase saslPhase
	nonce string
	user  string // the authenticated user
}

// step answers a token.
func (x *digestExchange) step(token []byte, passwordOf func(string) (string, bool)) ([]byte, code) {
	if len(token) > maxDigestResponse {
		return nil, codeAuthFailed
	}
	switch x.phase {
	case saslFresh: // the content of the first token does not count
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

const (
	digestRealm = "zk-sasl-md5"
	digestURI   = "zookeeper/zk-sasl-md5"
	// maxDigestResponse is the longest response that Java's server reads, in bytes.
	maxDigestResponse = 4096
)

// digestResponse is a client's answer to a challenge.
type digestResponse struct{ user, realm, nonce, cnonce, uri, response, forWhom string }

// parseDigestResponse reads an answer, and checks everything that needs no password. closes says
// that ZooKeeper hangs up on it without an answer: a number that cannot be parsed ends in an
// exception that it does not expect.
func parseDigestResponse(text []byte) (r digestResponse, ok, closes bool) {
	all, ok := parseDirectives(string(text))
	if !ok {
		return r, false, false
	}
	r = digestResponse{
		user: all["username"], realm: all["realm"], nonce: all["nonce"], cnonce: all["cnonce"], uri: all["digest-uri"],
		response: all["response"],
	}
	if whom, given := all["authzid"]; given {
		r.forWhom = ":" + whom
	}
	if charset, given := all["charset"]; given && charset != "utf-8" {
		return r, false, false
	}
	if number, given := all["maxbuf"]; given {
		if _, err := strconv.ParseInt(number, 10, 32); err != nil {
			return r, false, true
		}
	}
	for _, must := range []string{"username", "nonce", "cnonce"} {
		if _, ok := all[must]; !ok {
			return r, false, false
		}
	}
	if r.realm != digestRealm {
		return r, false, false
	}
	if count, given := all["nonce-count"]; given {
		if n, err := strconv.ParseInt(count, 16, 32); err != nil || n != 1 {
			return r, false, err != nil
		}
	}
	if qop, given := all["qop"]; given && qop != "auth" {
		return r, false, false
	}
	return r, strings.EqualFold(r.uri, digestURI), false
}

// digestDirectives are the directives that may come once; others are passed over. Java's server
// looks for the client's count under the name nonce-count, and not nc as in the RFC, so it never
// finds it.
var digestDirectives = map[string]bool{
	"username": true, "realm": true, "nonce": true, "cnonce": true, "nonce-count": true, "qop": true, "digest-uri": true,
	"response": true, "maxbuf": true, "charset": true, "cipher": true, "authzid": true, "auth-param": true,
}

const linearSpace = " \t\r\n"

// parseDirectives reads name=value pairs between commas or space, by name in lower case. Values may be quoted. A
// name at the end that has no value is passed over.
func parseDirectives(rest string) (found map[string]string, ok bool) {
	found = map[string]string{}
	for {
		rest = strings.TrimLeft(rest, ","+linearSpace)
		if !strings.ContainsAny(rest, "=,"+linearSpace) {
			return found, true
		}
		name, value, tail, ok := cutDirective(rest)
		if !ok {
			return nil, false
		}
		rest = tail
		if !digestDirectives[name] {
			continue
		}
		if _, twice := found[name]; twice {
			return nil, false
		}
		found[name] = value
	}
}

func cutDirective(text string) (name, value, rest string, ok bool) {
	name, rest, ok = strings.Cut(text, "=")
	name, rest = strings.ToLower(strings.TrimRight(name, linearSpace)), strings.TrimLeft(rest, linearSpace)
	if !ok || name == "" || strings.ContainsAny(name, ","+linearSpace) || rest == "" {
		return "", "", "", false
	}
	if quoted, is := strings.CutPrefix(rest, `"`); is {
		value, rest, ok = cutQuoted(quoted)
		return name, value, rest, ok && (rest == "" || strings.IndexByte(","+linearSpace, rest[0]) >= 0)
	}
	end := strings.IndexAny(rest, ","+linearSpace)
	if end < 0 {
		end = len(rest)
	}
	return name, rest[:end], rest[end:], true
}

func cutQuoted(text string) (value, rest string, ok bool) {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			return out.String(), text[i+1:], true
		case '\\':
			if i++; i == len(text) {
				return "", "", false
			}
		}
		out.WriteByte(text[i])
	}
	return "", "", false
}

// digest proves that a side knows the password: the client with "AUTHENTICATE:", the server with
// ":".
func (r digestResponse) digest(method, password string) string {
	secret := md5.Sum([]byte(inLatin1(r.user) + ":" + inLatin1(r.realm) + ":" + inLatin1(password)))
	a1 := string(secret[:]) + ":" + r.nonce + ":" + r.cnonce + r.forWhom
	return md5Hex(strings.Join([]string{md5Hex(a1), r.nonce, "00000001", r.cnonce, "auth", md5Hex(method + r.uri)}, ":"))
}

func md5Hex(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// inLatin1 converts a text to ISO 8859-1 where that has all its characters. Otherwise it leaves the
// text unchanged.
func inLatin1(text string) string {
	if !utf8.ValidString(text) {
		return text
	}
	out := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return text
		}
		out = append(out, byte(r))
	}
	return string(out)
}
