#!/usr/bin/env bash
# Installs Java, Maven and Python's virtual environments where they are missing, and has them fetch what pom.xml and
# requirements.txt beside this file name. Does nothing, and needs no network, where all is there already.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../debian.sh"

who=tests/rig/pinned
needs=("The tests need java, javac and mvn in PATH, and /usr/bin/python3 with the modules venv and ensurepip.")
without="Without them, 'make race' runs the tests that need no server."
packages=(default-jdk-headless maven python3-venv)

complete() {
	command -v java >/dev/null && command -v javac >/dev/null && command -v mvn >/dev/null &&
		/usr/bin/python3 -c 'import venv, ensurepip' 2>/dev/null
}

install_missing
${GO:-go} run ./tests/rig/pinned/fetch
