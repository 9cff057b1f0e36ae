#!/usr/bin/env bash
# Installs Debian's ZooKeeper 3.8.0, which TURNSTILE_ZOOKEEPER=3.8.0 starts: Debian 12 has it. Does nothing where it is
# there already. The other versions are those of package pinned.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../debian.sh"

# The netty jars are for servers with TLS: the manifest of zookeeper.jar lacks them.
jars=(/usr/share/java/{zookeeper-3.8.0,slf4j-simple,commons-cli,netty-codec,netty-resolver,netty-transport-native-unix-common}.jar)

who=tests/rig
needs=("ZooKeeper 3.8.0 is served by java in PATH, and ${jars[*]}.")
without="Without them, 'make versions VERSIONS=\"3.9.5 3.8.6\"' tests on the other versions."
packages=(zookeeper default-jre-headless libnetty-java libslf4j-java libcommons-cli-java)

complete() {
	command -v java >/dev/null || return 1
	for jar in "${jars[@]}"; do
		[ -e "$jar" ] || return 1
	done
}

install_missing
