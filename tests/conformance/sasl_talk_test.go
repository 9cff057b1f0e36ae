package conformance

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// saslTalk is one connection in the midst of SASL exchanges: what it says depends on what it has heard.
type saslTalk struct {
	wire  *wire
	asked string // the name of the last request; empty for a SASL request
	nonce string // of the last challenge
	proof string // that the server has to give for the last response
	heard []string
}

// saying is one request; nil where nothing is to be sent.
type saying func(t *saslTalk) []byte

// talk opens a session and says one thing after the other, each when the one before was answered. It gives what was
// heard: of each answer its error, whether it names a transaction, and the body, with what is random masked.
func talk(addr string, all []saying) ([]string, error) {
	w, welcome, err := greet(addr, newcomer())
	if err != nil {
		return nil, err
	}
	defer w.close()
	if welcome.err != nil {
		return nil, welcome.err
	}
	t := &saslTalk{wire: w}
	for _, say := range all {
		t.asked = ""
		w.write(say(t))
		if !t.listen() {
			break
		}
	}
	return t.heard, nil
}

// listen takes one answer. It reports false when the connection has ended, which it finds out behind an error by
// asking for a sign of life.
func (t *saslTalk) listen() bool {
	body, err := t.wire.read()
	if err != nil {
		t.heard = append(t.heard, ending(err))
		return false
	}
	d := decoder{bytes: body}
	h := d.header()
	t.heard = append(t.heard, fmt.Sprintf("xid %d, error %d, transaction %t, %s", h.xid, h.err, h.zxid != 0, t.body(d)))
	if h.err != -115 && h.err != -124 {
		return true
	}
	t.wire.write(ping)
	body, err = t.wire.read()
	t.heard = append(t.heard, fmt.Sprintf("then %t %x", err == nil, body))
	return false
}

var (
	saslNonce = regexp.MustCompile(`nonce="([^"]*)"`)
	saslProof = regexp.MustCompile(`rspauth=[0-9a-f]*`)
)

// body gives what is of interest in an answer. The other suites look at the rest.
func (t *saslTalk) body(d decoder) string {
	switch t.asked {
	case "":
		return t.mask(d.bytes)
	case "whoAmI":
		var all []string
		for range d.int32() {
			all = append(all, d.text().value+":"+d.text().value)
		}
		slices.Sort(all) // ZooKeeper gives them in the order of a hash table
		return fmt.Sprint(all)
	case "getACL":
		entries := d.acl().items
		slices.SortFunc(entries, func(a, b aclEntry) int { return strings.Compare(a.String(), b.String()) })
		return fmt.Sprint(entries)
	}
	return ""
}

func (t *saslTalk) mask(body []byte) string {
	text := string(body)
	if found := saslNonce.FindStringSubmatch(text); found != nil {
		t.nonce = found[1]
		text = strings.ReplaceAll(text, t.nonce, "NONCE")
	}
	text = saslProof.ReplaceAllStringFunc(text, func(proof string) string {
		if proof == "rspauth="+t.proof {
			return "PROOF"
		}
		return "WRONG PROOF"
	})
	return fmt.Sprintf("%q", text)
}

// tokenOf is a SASL request.
func tokenOf(value string) []byte {
	var e encoder
	e.text(text{value: value})
	return request(7, 102, e.bytes)
}

// begin asks for a challenge.
func begin(*saslTalk) []byte { return tokenOf("") }

// token says something.
func token(value string) saying { return func(*saslTalk) []byte { return tokenOf(value) } }

// directive is name=value in an answer to a challenge, as sent.
type directive struct{ name, value string }

// respond answers a challenge as somebody, with changes: a directive that replaces the one of its
// name, or is added where there was none of that name. With an empty value the directive is left
// out.
func respond(user, password string, changes ...directive) saying {
	return func(t *saslTalk) []byte {
		const realm, cnonce, uri = "zk-sasl-md5", "0123456789abcdef", "zookeeper/zk-sasl-md5"
		values := []directive{
			{"charset", "utf-8"}, {"username", `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(user) + `"`},
			{"realm", `"` + realm + `"`}, {"nonce", `"` + t.nonce + `"`}, {"nc", "00000001"}, {"cnonce", `"` + cnonce + `"`},
			{"digest-uri", `"` + uri + `"`}, {"response", ""}, {"qop", "auth"},
		}
		said, forWhom := uri, ""
		for _, change := range changes {
			switch plain := strings.Trim(change.value, `"`); change.name {
			case "digest-uri":
				said = plain
			case "authzid":
				forWhom = ":" + plain
			}
		}
		proof := func(method string) string {
			return saslDigest(user, realm, password, t.nonce, cnonce, forWhom, method+said)
		}
		values[7].value, t.proof = proof("AUTHENTICATE:"), proof(":")
		for _, change := range changes {
			i := slices.IndexFunc(values, func(d directive) bool { return d.name == change.name })
			switch {
			case i < 0:
				values = append(values, change)
			default:
				values[i] = change
			}
		}
		var parts []string
		for _, d := range values {
			if d.value != "" {
				parts = append(parts, d.name+"="+d.value)
			}
		}
		return tokenOf(strings.Join(parts, ","))
	}
}

func saslDigest(user, realm, password, nonce, cnonce, forWhom, a2 string) string {
	hash := func(text string) string {
		sum := md5.Sum([]byte(text))
		return hex.EncodeToString(sum[:])
	}
	secret := md5.Sum([]byte(asLatin1(user) + ":" + realm + ":" + asLatin1(password)))
	a1 := hash(string(secret[:]) + ":" + nonce + ":" + cnonce + forWhom)
	return hash(a1 + ":" + nonce + ":00000001:" + cnonce + ":auth:" + hash(a2))
}

func asLatin1(text string) string {
	var out []byte
	for _, r := range text {
		if r > 0xff {
			return text
		}
		out = append(out, byte(r))
	}
	return string(out)
}

// other is any other request, as the cases of the regressions write it.
func other(line string) saying {
	return func(t *saslTalk) []byte {
		operations, err := parseOperations("s0 " + line)
		if err != nil {
			panic(err)
		}
		o := operations[0]
		t.asked = o.name
		body, err := scope{}.request(o)
		if err != nil {
			panic(err)
		}
		return request(9, layouts[o.name].code, body)
	}
}
