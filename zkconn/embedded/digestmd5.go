package embedded

import (
	"crypto/md5"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	digestRealm = "zk-sasl-md5"
	digestURI   = "zookeeper/zk-sasl-md5"
	// maxDigestResponse is what Java's server reads at most, in bytes.
	maxDigestResponse = 4096
)

// digestResponse is a client's answer to a challenge.
type digestResponse struct{ user, realm, nonce, cnonce, uri, response, forWhom string }

// parseDigestResponse reads an answer, and checks what can be without a password. closes says that ZooKeeper hangs up
// on it without an answer, for a number that is none ends in an exception that it does not expect.
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

// digestDirectives are those that may come once; others are passed over. Java's server calls the client's count
// nonce-count and not nc as the RFC does, and so looks at nobody's.
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

// digest is what proves that one knows the password: the client with "AUTHENTICATE:", the server with ":".
func (r digestResponse) digest(method, password string) string {
	secret := md5.Sum([]byte(inLatin1(r.user) + ":" + inLatin1(r.realm) + ":" + inLatin1(password)))
	a1 := string(secret[:]) + ":" + r.nonce + ":" + r.cnonce + r.forWhom
	return md5Hex(strings.Join([]string{md5Hex(a1), r.nonce, "00000001", r.cnonce, "auth", md5Hex(method + r.uri)}, ":"))
}

func md5Hex(text string) string {
	sum := md5.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// inLatin1 gives a text in ISO 8859-1 where that has all its characters, and as it is otherwise.
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
