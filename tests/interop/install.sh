#!/usr/bin/env bash
# Installs what package interop runs: Curator and its compiler, and kazoo. Does
# nothing where all is there already. The servers are tests/rig/install.sh's.
set -euo pipefail

files=(
	/usr/share/java/curator-recipes.jar
	/usr/share/java/curator-framework.jar
	/usr/share/java/slf4j-simple.jar
	/usr/bin/python3
	/usr/lib/python3/dist-packages/kazoo/recipe/lock.py
)
packages=(libcurator-recipes-java libcurator-framework-java libslf4j-java python3-kazoo default-jdk-headless)

complete() {
	command -v java >/dev/null || return 1
	command -v javac >/dev/null || return 1
	for file in "${files[@]}"; do
		[ -e "$file" ] || return 1
	done
}

give_up() {
	printf '%s\n' "tests/interop: $1" \
		"The tests need java and javac in PATH, and:" "${files[@]/#/  }" \
		"On Debian: apt-get install --no-install-recommends ${packages[*]}" \
		"Without them, 'make race' skips the tests that run other clients." >&2
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
