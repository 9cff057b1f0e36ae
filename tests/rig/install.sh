#!/usr/bin/env bash
# Installs what package rig starts: Java and the ZooKeeper jars. Does nothing
# where both are there already.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../debian.sh"

# The netty jars are for servers with TLS: the manifest of zookeeper.jar lacks them.
jars=(/usr/share/java/{zookeeper,slf4j-simple,netty-codec,netty-resolver,netty-transport-native-unix-common}.jar)

who=tests/rig
needs=("The tests need java in PATH, and ${jars[*]}.")
without="Without them, 'make race' runs the tests that need no server."
packages=(zookeeper default-jre-headless libnetty-java)

complete() {
	command -v java >/dev/null || return 1
	for jar in "${jars[@]}"; do
		[ -e "$jar" ] || return 1
	done
}

install_missing
