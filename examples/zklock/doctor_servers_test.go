package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVersions: what servers answer to srvr, and what doctor makes of it.
func TestVersions(t *testing.T) {
	const line, built = "Zookeeper version: ", "-6b21ed9dbda7a0deb0f2ffc6b5fdd75bbd6e4a79, built on 2024-01-01 00:00 UTC\nMode: leader\n"
	for _, tc := range []struct{ srvr, says, grade, do string }{
		{line + "3.9.5" + built, "ZooKeeper 3.9.5", fine, ""},
		{line + "3.8.6" + built, "ZooKeeper 3.8.6", fine, ""},
		{line + "3.9.10" + built, "ZooKeeper 3.9.10", fine, ""},
		{line + "3.10.0" + built, "ZooKeeper 3.10.0", fine, ""},
		{line + "3.9.5-turnstile-embedded, built on nothing\n", "ZooKeeper 3.9.5", fine, ""},
		{line + "3.9.3" + built, "ZooKeeper 3.9.3", odd, "ZOOKEEPER-4925"},
		{line + "3.9.4" + built, "ZooKeeper 3.9.4", odd, "CVE-2026-24281"},
		{line + "3.9.0" + built, "ZooKeeper 3.9.0", odd, "CVE-2026-24308"},
		{line + "3.8.0" + built, "ZooKeeper 3.8.0", odd, "ZOOKEEPER-4785"},
		{line + "3.7.2" + built, "ZooKeeper 3.7.2", odd, "CVE-2024-23944"},
		{line + "3.4.14" + built, "ZooKeeper 3.4.14", odd, "container nodes"},
		{line + "next, built on a day\n", "ZooKeeper next", odd, "does not know this server"},
		{"Mode: leader\n", "ZooKeeper of an unknown version", odd, "does not know this server"},
		{"ClickHouse Keeper version: v25.8.1.1-lts-0123456789abcdef\nMode: leader\n",
			"ClickHouse Keeper v25.8.1.1", odd, "another session on every reconnect"},
	} {
		of := versionIn(tc.srvr)
		grade, do := of.judge()
		require.Equal(t, tc.says, of.String())
		require.Equal(t, tc.grade, grade, tc.says)
		require.Contains(t, do, tc.do, tc.says)
		require.Equal(t, tc.grade == fine, do == "", tc.says)
	}
}
