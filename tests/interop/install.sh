#!/usr/bin/env bash
# Installs what package interop runs: Curator and its compiler, and kazoo. Does
# nothing where all is there already. The servers are tests/rig/install.sh's.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../debian.sh"

files=(
	/usr/share/java/curator-recipes.jar
	/usr/share/java/curator-framework.jar
	/usr/share/java/slf4j-simple.jar
	/usr/bin/python3
	/usr/lib/python3/dist-packages/kazoo/recipe/lock.py
)

who=tests/interop
needs=("The tests need java and javac in PATH, and:" "${files[@]/#/  }")
without="Without them, 'make race' skips the tests that run other clients."
packages=(libcurator-recipes-java libcurator-framework-java libslf4j-java python3-kazoo default-jdk-headless)

complete() {
	command -v java >/dev/null || return 1
	command -v javac >/dev/null || return 1
	for file in "${files[@]}"; do
		[ -e "$file" ] || return 1
	done
}

install_missing
