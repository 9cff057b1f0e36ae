#!/usr/bin/env bash
# Installs what package kdc starts: the KDC of MIT Kerberos and its tools. Does
# nothing where all is there already.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../debian.sh"

programs=(/usr/sbin/{krb5kdc,kadmin.local,kdb5_util} /usr/bin/{kinit,kvno})

who=tests/rig/kdc
needs=("The tests of Kerberos need:" "${programs[@]/#/  }")
without="Without them, 'make race' skips the tests of Kerberos."
packages=(krb5-kdc krb5-admin-server krb5-user)

complete() {
	for program in "${programs[@]}"; do
		[ -x "$program" ] || return 1
	done
}

install_missing
