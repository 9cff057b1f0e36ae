#!/usr/bin/env bash
# Installs what package rig starts: Java and the ZooKeeper jars. Does nothing
# where both are there already.
set -euo pipefail

# The netty jars are for servers with TLS: the manifest of zookeeper.jar lacks them.
jars=(/usr/share/java/{zookeeper,slf4j-simple,netty-codec,netty-resolver,netty-transport-native-unix-common}.jar)
packages=(zookeeper default-jre-headless libnetty-java)

complete() {
	command -v java >/dev/null || return 1
	for jar in "${jars[@]}"; do
		[ -e "$jar" ] || return 1
	done
}

give_up() {
	printf '%s\n' "tests/rig: $1" \
		"The tests need java in PATH, and ${jars[*]}." \
		"On Debian: apt-get install --no-install-recommends ${packages[*]}" \
		"Without them, 'make race' runs the tests that need no server." >&2
	exit 1
}

complete && exit 0
[ -e /etc/debian_version ] && command -v apt-get >/dev/null || give_up "this is not Debian, so nothing was installed."

as_root=()
if [ "$(id -u)" -ne 0 ]; then
	sudo -n true 2>/dev/null || give_up "installing takes root, or sudo without a password."
	as_root=(sudo -n)
fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update
"${as_root[@]}" apt-get install -y --no-install-recommends "${packages[@]}"
complete || give_up "installed ${packages[*]}, and still something is missing."
