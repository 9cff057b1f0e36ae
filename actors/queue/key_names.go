package queue

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The form of these names, which locks.Keyed documents. An escape is a percent sign and two digits,
// so no plain name has a percent sign before a parenthesis: such names stand for the empty key, and
// for keys that are too long.
const (
	// maxKeyName bounds the name in bytes. Each contender's path has it, and the paths of a
	// session's nodes go into the one transaction that ends it: see actors.WithMaxNodeBytes. At
	// this length and with a root of 20 bytes 2 400 keys can be held.
	maxKeyName  = 128
	nameOfEmpty = "%(empty)"
	// hashedForm ends a name that was cut: the SHA-256 of the key, in hexadecimal digits.
	hashedForm   = "%%(%x)"
	hashedLength = len("%()") + 2*sha256.Size
)

// NameOfKey gives the name of a lock path that stands for a key, which may be any string. Different
// keys have different names: a plain one gives the key back when it is read, and one that was cut
// has the hash of the whole key. None is the name of a contender.
func NameOfKey(key string) string {
	switch key {
	case "":
		return nameOfEmpty
	case ".", "..", "zookeeper": // which ZooKeeper refuses, the last one below its root
		return escape(key[:1]) + key[1:]
	}
	var name strings.Builder
	cut := 0 // where it is cut if it proves too long: not within an escape or a character
	for at, size := 0, 0; at < len(key); at += size {
		var r rune
		r, size = utf8.DecodeRuneInString(key[at:])
		part := key[at : at+size]
		if atAnEnd := at == 0 || at+size == len(key); !readable(r) || r == ' ' && atAnEnd {
			part = escape(part)
		}
		name.WriteString(part)
		switch length := name.Len(); {
		case length > maxKeyName:
			return name.String()[:cut] + hashOf(key)
		case length <= maxKeyName-hashedLength:
			cut = length
		}
	}
	return unlikeContender(key, name.String(), cut)
}

// unlikeContender escapes the last byte of a name that would be read as a contender's node: all of
// those end with a digit.
func unlikeContender(key, name string, cut int) string {
	if _, is := Parse(name); !is {
		return name
	}
	last := len(name) - 1
	if name = name[:last] + escape(name[last:]); len(name) > maxKeyName {
		return name[:cut] + hashOf(key)
	}
	return name
}

func hashOf(key string) string { return fmt.Sprintf(hashedForm, sha256.Sum256([]byte(key))) }

// readable reports whether a character stands for itself in a name: people see it, ZooKeeper takes
// it, and it means nothing here. Bytes that are no UTF-8 come as the replacement character, which
// ZooKeeper refuses.
func readable(r rune) bool {
	refused := r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0 // as zkconn.CheckPath has it; controls are not printable
	return unicode.IsPrint(r) && !refused && r != '/' && r != '%'
}

func escape(part string) string {
	var escaped strings.Builder
	for i := range len(part) {
		fmt.Fprintf(&escaped, "%%%02X", part[i])
	}
	return escaped.String()
}
