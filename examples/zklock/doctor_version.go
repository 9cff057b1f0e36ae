package main

import (
	"cmp"
	"fmt"
	"strings"
)

// serverVersion is what a server says that it is.
type serverVersion struct {
	product string // "ZooKeeper", or another that speaks its protocol
	text    string // as it says it, without the build; empty where it says none
}

// versionIn finds the version in what a server answers to srvr. ClickHouse Keeper says its own.
func versionIn(srvr string) serverVersion {
	const zookeeper, keeper = "Zookeeper version: ", "ClickHouse Keeper version: "
	product, text := "ZooKeeper", field(srvr, zookeeper)
	if other := field(srvr, keeper); other != "" {
		product, text = "ClickHouse Keeper", other
	}
	text, _, _ = strings.Cut(text, ",")
	text, _, _ = strings.Cut(text, "-")
	return serverVersion{product, text}
}

func (v serverVersion) String() string {
	return v.product + " " + cmp.Or(v.text, "of an unknown version")
}

// release is a version of ZooKeeper as numbers.
type release struct{ major, minor, patch int }

func (r release) before(major, minor, patch int) bool {
	return cmp.Or(cmp.Compare(r.major, major), cmp.Compare(r.minor, minor), cmp.Compare(r.patch, patch)) < 0
}

// judge says what to do about a server of that version, where something is to be done (locks/LIMITS.md, "ZooKeeper").
func (v serverVersion) judge() (grade, do string) {
	const run = "run ZooKeeper 3.9.5 or 3.8.6"
	if v.product != "ZooKeeper" {
		return odd, "no lease can be promised here: it begins another session on every reconnect, and expires sessions by the " +
			"wall clock; " + run
	}
	var r release
	if _, err := fmt.Sscanf(v.text, "%d.%d.%d", &r.major, &r.minor, &r.patch); err != nil {
		return odd, "Turnstile does not know this server, and may not be able to promise a lease on it; " + run
	}
	switch {
	case r.before(3, 5, 0):
		return odd, "before 3.5 there are no container nodes, and lock paths stay behind for ever; " + run
	case r == release{3, 9, 3}:
		return odd, "3.9.3 loses data (ZOOKEEPER-4925); " + run
	case r.before(3, 8, 6), !r.before(3, 9, 0) && r.before(3, 9, 5):
		return odd, "CVE-2024-23944, CVE-2026-24281 and CVE-2026-24308 are fixed in 3.8.6 and 3.9.5, and servers before may come " +
			"to differ (ZOOKEEPER-4785 and others); " + run
	}
	return fine, ""
}
