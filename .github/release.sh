#!/usr/bin/env bash
# What remains to be done by hand before a version is tagged, and what is done of it: make release VERSION=v0.1.0.
# It changes nothing in the repository. Into the folder OUT it writes notes.md, which is what the release says, and api.txt,
# which is how the API differs from that of the last tag.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version="$1" out="$2" apidiff="$3"
module="$(go list -m)"
mkdir -p "$out"

step() { # step <done|to do|look> <what>
	printf '%-6s %s\n' "$1" "$2"
}

check() { # check <what> <what to do where it is not so> <command …>
	local what="$1" todo="$2"
	shift 2
	if "$@" >/dev/null 2>&1; then step done "$what"; else step 'to do' "$todo"; fi
}

# api writes how the exported API of all packages differs from that of a tag.
api() {
	local old="$out/old"
	git worktree add --quiet --force --detach "$old" "$1"
	trap 'git worktree remove --force "$old"' RETURN
	(cd "$old" && go run "$apidiff" -m -w "$out/old.api" "$module")
	go run "$apidiff" -m "$out/old.api" "$module" >"$out/api.txt"
}

# notes writes the part of the changelog that readers of a release want: all of its section but how it came about.
notes() {
	awk -v version="$version" '
		/^## / { inside = $2 == version; next }
		/^### On the way to it/ { inside = 0 }
		inside' CHANGELOG.md >"$out/notes.md"
	[ -s "$out/notes.md" ]
}

last="$(git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || true)"
echo "release $version, after ${last:-no tag}"
check 'everything is committed' 'commit what is not, or take it away: git status' test -z "$(git status --porcelain)"
check "CHANGELOG.md begins with $version and its date" \
	"CHANGELOG.md: the first section is '## $version (YYYY-MM-DD)'" \
	grep -qE "^## ${version//./\\.} \([0-9]{4}-[0-9]{2}-[0-9]{2}\)" <(grep '^## ' CHANGELOG.md | head -n 1)
check 'README.md speaks of a release' "README.md: take out 'There is no tagged release yet.'" \
	bash -c '! grep -q "no tagged release yet" README.md'
check "release notes: $out/notes.md" "CHANGELOG.md has no section $version" notes
if [ -z "$last" ]; then
	step done 'API report: nothing was tagged before, so nothing can have changed'
elif api "$last"; then
	step look "API report against $last: $out/api.txt ($(grep -c . "$out/api.txt" || true) lines); CHANGELOG.md says how to follow"
else
	step 'to do' "API report against $last: it could not be made"
fi
cat <<REST
to do  make test-all, make versions and make mistakes pass in a clean clone of $(git rev-parse --short HEAD)
to do  make soak finds nothing, and make readme passes
to do  the workflow "weekly" is green: the newest dependencies, and what is known to be vulnerable
to do  git tag -s $version -m $version && git push origin $version
to do  go list -m $module@$version              # asks the module proxy, which keeps it from then on
to do  in locks/adapters/gocron: go mod edit -require $module@$version && go mod tidy; commit; then
       git tag -s locks/adapters/gocron/$version -m $version && git push origin locks/adapters/gocron/$version
       (its replace is for work in the repository: whoever imports the module does not see it)
to do  go install $module/examples/zklock@latest   # in an empty folder; zklock --help
to do  make dist VERSION=$version   # twice: the same source gives the same SHA256SUMS
to do  publish $out/notes.md as the release, with the archives and SHA256SUMS
REST
