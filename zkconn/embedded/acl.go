package embedded

import (
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The permissions of an access control list, as bits.
const (
	permRead   = 1 << 0
	permWrite  = 1 << 1
	permCreate = 1 << 2
	permDelete = 1 << 3
	permAdmin  = 1 << 4
	permAll    = permRead | permWrite | permCreate | permDelete | permAdmin
)

// identity is a client's proved identity: a scheme and an id in it.
type identity struct{ scheme, id string }

// access is one entry of an access control list.
type access struct {
	perms int32
	identity
}

var (
	openACL = []access{{perms: permAll, identity: identity{"world", "anyone"}}}
	readACL = []access{{perms: permRead, identity: identity{"world", "anyone"}}}
)

// schemeSASL is the scheme of identities that were shown with SASL.
const schemeSASL = "sasl"

// fixACL checks the list that a request wants to give a node, and puts the requestor's own identities in
// the place of the scheme "auth". sasl: the server knows that scheme.
func fixACL(list []access, who []identity, sasl bool) ([]access, code) {
	var fixed []access
	var seen set[access]
	for _, a := range list {
		if len(list) > 1 && !seen.add(a) {
			continue
		}
		switch {
		case a.scheme == null:
			return nil, codeInvalidACL
		case a.scheme == "auth":
			known := len(fixed)
			for _, id := range who {
				if id.scheme == "digest" || id.scheme == "super" || id.scheme == schemeSASL {
					fixed = append(fixed, access{perms: a.perms, identity: id})
				}
			}
			if len(fixed) == known {
				return nil, codeInvalidACL
			}
		case a.id == null && (a.scheme == "world" || a.scheme == "digest" || a.scheme == "ip"):
			return nil, codeMarshalling
		case a.scheme == schemeSASL && !sasl:
			return nil, codeInvalidACL
		case validID(a.identity):
			fixed = append(fixed, a)
		default:
			return nil, codeInvalidACL
		}
	}
	if len(fixed) == 0 {
		return nil, codeInvalidACL
	}
	return fixed, codeOK
}

func validID(who identity) bool {
	switch who.scheme {
	case "world":
		return who.id == "anyone"
	case "digest":
		// Java's split gives no trailing empty parts.
		trimmed := strings.TrimRight(who.id, ":")
		return strings.Count(trimmed, ":") == 1
	case "ip":
		_, ok := parseNetwork(who.id)
		return ok
	case schemeSASL:
		return !strings.Contains(who.id, "@") || kerberosName.MatchString(who.id)
	}
	return false
}

// kerberosName is a principal with a realm (KerberosName's nameParser).
var kerberosName = regexp.MustCompile(`^[^/@]*(/[^/@]*)?@[^/@]*$`)

// allowed reports whether one of the identities has one of the permissions. A node without a list is open.
func allowed(list []access, perm int32, who []identity) bool {
	if len(list) == 0 {
		return true
	}
	for _, id := range who {
		if id.scheme == "super" {
			return true
		}
	}
	for _, a := range list {
		if a.perms&perm == 0 {
			continue
		}
		if a.scheme == "world" && a.id == "anyone" {
			return true
		}
		for _, id := range who {
			if id.scheme == a.scheme && matches(a.identity, id.id) {
				return true
			}
		}
	}
	return false
}

func matches(rule identity, id string) bool {
	if rule.scheme != "ip" {
		return rule.id == id || rule.scheme == schemeSASL && id == "super"
	}
	network, ok := parseNetwork(rule.id)
	if !ok {
		return false
	}
	client, ok := parseAddress(id)
	return ok && len(client) == len(network.address) && network.contains(client)
}

// network is the value of an entry of the scheme ip: an address of 4 or 16 bytes, and how many bits of it count.
type network struct {
	address []byte
	bits    int
}

// parseNetwork reads an address with or without a number of bits (IPAuthenticationProvider.isValid).
func parseNetwork(text string) (network, bool) {
	host, length, prefixed := strings.Cut(text, "/")
	address, ok := parseAddress(host)
	n := network{address, 8 * len(address)}
	if !ok || !prefixed {
		return n, ok
	}
	bits, err := strconv.Atoi(length)
	if err != nil || bits < 0 || bits > n.bits {
		return network{}, false
	}
	n.bits = bits
	return n, true
}

func (n network) contains(address []byte) bool {
	for i := range n.bits {
		if bit := byte(1) << (7 - i%8); n.address[i/8]&bit != address[i/8]&bit {
			return false
		}
	}
	return true
}

// parseAddress reads an IPv4 address, or an IPv6 address as soon as it has a colon. It accepts the
// same texts as ZooKeeper (IPAuthenticationProvider.addr2Bytes), which are not quite those of
// net/netip: octets may have leading zeros, and no IPv4 address stands at the end of an IPv6 one.
func parseAddress(text string) ([]byte, bool) {
	if strings.Contains(text, ":") {
		return parseIPv6(text)
	}
	parts := strings.Split(text, ".")
	if len(parts) != 4 {
		return nil, false
	}
	address := make([]byte, 4)
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > 255 {
			return nil, false
		}
		address[i] = byte(n)
	}
	return address, true
}

// segments is the number of 16-bit numbers in an IPv6 address.
const segments = 8

func parseIPv6(text string) ([]byte, bool) {
	head, tail, compressed := strings.Cut(text, "::")
	before, after := splitSegments(head), splitSegments(tail)
	switch {
	case strings.Contains(tail, "::"):
		return nil, false
	case compressed && len(before)+len(after) >= segments:
		return nil, false
	case !compressed && len(before) != segments:
		return nil, false
	}
	address := make([]byte, 2*segments)
	return address, putSegments(address, before) && putSegments(address[2*(segments-len(after)):], after)
}

func splitSegments(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ":")
}

func putSegments(address []byte, all []string) bool {
	for i, segment := range all {
		n, err := strconv.ParseInt(segment, 16, 32)
		if err != nil || len(segment) > 4 {
			return false
		}
		binary.BigEndian.PutUint16(address[2*i:], uint16(n))
	}
	return true
}

// digest turns "user:password" into the user's id in the scheme "digest".
func digest(secret string) string {
	user, _, _ := strings.Cut(secret, ":")
	sum := sha1.Sum([]byte(secret))
	return user + ":" + base64.StdEncoding.EncodeToString(sum[:])
}

var afterColon = regexp.MustCompile(`:.*`)

// maskACL hides the digests from clients that may read a list but not change it.
func maskACL(list []access) []access {
	masked := slices.Clone(list)
	for i := range masked {
		if masked[i].scheme == "digest" {
			masked[i].id = afterColon.ReplaceAllString(masked[i].id, ":x")
		}
	}
	return masked
}
