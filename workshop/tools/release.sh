#!/bin/bash
# Makes the archives of a release in dist: of the tag that this commit has, or a snapshot. With --check it makes those of
# this commit twice, in new clones at different places, with other umasks, time zones and build caches, and wants them equal
# and the program of this machine's archive to work.
#
# SIGNING_KEY names a private key of ssh, which then signs checksums.txt.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
go=${GO:-go}
goreleaser=${GORELEASER:-$PWD/bin/goreleaser}
if [ -z "${GORELEASER:-}" ]; then
	"$go" build -C workshop/tools/goreleaser -o "$goreleaser" github.com/goreleaser/goreleaser/v2
fi

if [ "${1:-}" = --check ]; then
	"$go" build -C workshop -o ../bin/release ./release
	scratch=$(mktemp -d)
	trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
	commit=$(git rev-parse HEAD)
	for clone in one a/longer/way/to/the/other; do
		git clone --quiet --no-checkout . "$scratch/$clone"
		git -C "$scratch/$clone" checkout --quiet --detach "$commit"
	done
	GORELEASER=$goreleaser SIGNING_KEY='' "$scratch/one/workshop/tools/release.sh"
	(
		umask 077
		export TZ=Asia/Kathmandu LC_ALL=C GOCACHE=$scratch/cache
		GORELEASER=$goreleaser SIGNING_KEY='' "$scratch/a/longer/way/to/the/other/workshop/tools/release.sh"
	)
	bin/release check "$scratch/one/dist" "$scratch/a/longer/way/to/the/other/dist"
	exit
fi

if [ -n "$(git status --porcelain)" ]; then
	echo "A release is of a commit, and here are changes that are in none: git status" >&2
	exit 1
fi
snapshot=--snapshot
if git describe --exact-match --tags --match 'v*' HEAD >/dev/null 2>&1; then
	snapshot=
fi
"$goreleaser" release --clean --skip=publish,announce $snapshot
if [ -n "${SIGNING_KEY:-}" ]; then
	ssh-keygen -Y sign -n file -f "$SIGNING_KEY" dist/checksums.txt
fi
