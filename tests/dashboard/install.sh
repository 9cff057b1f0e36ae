#!/usr/bin/env bash
# Installs the browser that package dashboard looks at pages with. Does nothing where there is one already.
set -euo pipefail

packages=(chromium fonts-dejavu-core)

complete() {
	for name in chromium chromium-browser google-chrome; do
		command -v "$name" >/dev/null && return 0
	done
	return 1
}

give_up() {
	printf '%s\n' "tests/dashboard: $1" \
		"The tests need chromium in PATH." \
		"On Debian: apt-get install --no-install-recommends ${packages[*]}" \
		"Without it, 'make race' skips the tests that look at pages." >&2
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
