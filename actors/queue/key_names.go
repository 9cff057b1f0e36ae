package queue

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The form of these names, which locks.Keyed documents. An escape is a percent sign and two digits,
// so names with a percent sign before a parenthesis are free for the empty key, and for keys that
// are too long.
const (
	// maxKeyName bounds the name in bytes: the paths of a session's nodes go into the transaction
	// that ends it (actors.WithMaxNodeBytes). With a root of 20 bytes 2 400 keys of this length can
	// be held.
	maxKeyName  = 128
	nameOfEmpty = "%(empty)"
	// hashedForm ends a name that was cut: the SHA-256 of the key, in hexadecimal digits.
	hashedForm   = "%%(%x)"
	hashedLength = len("%()") + 2*sha256.Size
)

// NameOfKey gives the name of a key's lock path. Keys are any strings, and different keys have
// different names: a long one is cut, with the hash of the whole key. No name is a contender's.
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

// unlikeContender escapes the last digit of a name that would be read as a contender's node.
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

// readable reports whether a character stands for itself: people see it, ZooKeeper takes it, and it
// means nothing here. Invalid UTF-8 comes as the replacement character, which ZooKeeper refuses.
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
