#!/usr/bin/env bash
# Installs promtool, by which package figures has the alert rules of examples/metrics tested. Does nothing where there is
# one already.
set -euo pipefail

complete() { command -v promtool >/dev/null; }

give_up() {
	printf '%s\n' "tests/figures: $1" \
		"The tests of the alert rules need promtool in PATH; it is a part of Prometheus." \
		"On Debian: apt-get install --no-install-recommends prometheus" \
		"Without it, 'make race' skips the tests of the alert rules." >&2
	exit 1
}

complete && exit 0
[ -e /etc/debian_version ] && command -v apt-get >/dev/null || give_up "this is not Debian, so nothing was installed."

as_root=()
if [ "$(id -u)" -ne 0 ]; then
	sudo -n true 2>/dev/null || give_up "installing takes root, or sudo without a password."
	as_root=(sudo -n)
fi
# The package brings a server, which nobody asked for: it is not started in runlevel 1.
"${as_root[@]}" apt-get update
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y --no-install-recommends prometheus
complete || give_up "installed prometheus, and still promtool is missing."
