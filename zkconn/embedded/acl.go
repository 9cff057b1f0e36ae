package embedded

import (
	"crypto/sha1"
	"encoding/base64"
	"net/netip"
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

// identity is who somebody has shown to be: a scheme and an id in it.
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

// fixACL checks the list that a request wants to give a node, and puts the requestor's own identities in
// the place of the scheme "auth". sasl says whether the server knows that scheme.
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
		_, _, ok := parseIP(who.id)
		return ok
	case schemeSASL:
		return !strings.Contains(who.id, "@") || kerberosName.MatchString(who.id)
	}
	return false
}

// kerberosName is a principal with a realm (KerberosName's nameParser).
var kerberosName = regexp.MustCompile(`^[^/@]*(/[^/@]*)?@[^/@]*$`)

// allowed says whether one of the identities has one of the permissions. A node without a list is open.
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
	network, bits, ok := parseIP(rule.id)
	addr, _, known := parseIP(id)
	if !ok || !known {
		return false
	}
	return netip.PrefixFrom(network, bits).Contains(addr)
}

// parseIP reads an IPv4 address with or without a number of bits. ZooKeeper 3.8 knows no IPv6 here.
func parseIP(text string) (addr netip.Addr, bits int, ok bool) {
	host, length, prefixed := strings.Cut(text, "/")
	parts := strings.Split(host, ".")
	if len(parts) != 4 {
		return netip.Addr{}, 0, false
	}
	var octets [4]byte
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > 255 {
			return netip.Addr{}, 0, false
		}
		octets[i] = byte(n)
	}
	bits = 32
	if prefixed {
		n, err := strconv.Atoi(length)
		if err != nil || n < 0 || n > 32 {
			return netip.Addr{}, 0, false
		}
		bits = n
	}
	return netip.AddrFrom4(octets), bits, true
}

// digest turns "user:password" into the id that the scheme "digest" knows its owner by.
func digest(secret string) string {
	user, _, _ := strings.Cut(secret, ":")
	sum := sha1.Sum([]byte(secret))
	return user + ":" + base64.StdEncoding.EncodeToString(sum[:])
}

var afterColon = regexp.MustCompile(`:.*`)

// maskACL hides the digests from those who may read a list but not change it.
func maskACL(list []access) []access {
	masked := slices.Clone(list)
	for i := range masked {
		if masked[i].scheme == "digest" {
			masked[i].id = afterColon.ReplaceAllString(masked[i].id, ":x")
		}
	}
	return masked
}
