#!/usr/bin/env bash
# Installs what package sasl runs beside the servers: kazoo and its SASL. Does nothing where both are there already. The
# servers are tests/rig/install.sh's.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../debian.sh"

files=(
	/usr/bin/python3
	/usr/lib/python3/dist-packages/kazoo/recipe/lock.py
	/usr/lib/python3/dist-packages/puresasl/client.py
)

who=tests/sasl
needs=("The tests need:" "${files[@]/#/  }")
without="Without them, 'make race' skips the tests that run kazoo with SASL."
packages=(python3-kazoo python3-pure-sasl)

complete() {
	for file in "${files[@]}"; do
		[ -e "$file" ] || return 1
	done
}

install_missing
