#!/usr/bin/env bash
# Installs the browser that package dashboard looks at pages with. Does nothing where there is one already.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../debian.sh"

who=tests/dashboard
needs=("The tests need chromium in PATH.")
without="Without it, 'make race' skips the tests that look at pages."
packages=(chromium fonts-dejavu-core)

complete() {
	for name in chromium chromium-browser google-chrome; do
		command -v "$name" >/dev/null && return 0
	done
	return 1
}

install_missing
