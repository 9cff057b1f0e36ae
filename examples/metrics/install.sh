#!/usr/bin/env bash
# Installs promtool, by which the alert rules are tested. Does nothing where there is one already.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../tests/debian.sh"

who=examples/metrics
needs=("The tests of the alert rules need promtool in PATH; it is a part of Prometheus.")
without="Without it, 'make race' skips the tests of the alert rules."
packages=(prometheus)

complete() { command -v promtool >/dev/null; }

install_missing
