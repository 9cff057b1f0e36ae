# Installs packages of Debian. The install.sh of a package of tests sources this and says before:
#
#   who       who needs them, for messages
#   needs     lines that say what is needed
#   without   what can be done without it
#   packages  what they are called
#   complete  a function that tells whether all is there

give_up() {
	printf '%s\n' "$who: $1" "${needs[@]}" \
		"On Debian: apt-get install --no-install-recommends ${packages[*]}" \
		"$without" >&2
	exit 1
}

# install_missing does nothing where all is there already.
install_missing() {
	complete && return
	[ -e /etc/debian_version ] && command -v apt-get >/dev/null || give_up "this is not Debian, so nothing was installed."
	local as_root=()
	if [ "$(id -u)" -ne 0 ]; then
		sudo -n true 2>/dev/null || give_up "installing takes root, or sudo without a password."
		as_root=(sudo -n)
	fi
	# Some bring servers, which nobody asked for: in runlevel 1 none is started.
	as_root+=(env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1)
	"${as_root[@]}" apt-get update
	"${as_root[@]}" apt-get install -y --no-install-recommends "${packages[@]}"
	complete || give_up "installed ${packages[*]}, and still something is missing."
}
