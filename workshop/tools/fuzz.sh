#!/bin/sh
# Fuzzes every target of the module for FUZZTIME, two at a time; each package is built once for all of its targets. What
# fails is shown, and kept in the testdata of its package, where the tests of every day find it. Run by make fuzz, with
# servers of internal/testenv/run. With CHANGED, and without NIGHTLY, it takes only the packages that have changed since .ci/green.
set -eu
export FUZZTIME="${FUZZTIME:-1m}" GO="${GO:-go}"
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
export built
targets=$(grep -rn --include='*_test.go' '^func Fuzz' . |
	sed -E 's|^(\./.*)/[^/]*:[0-9]+:func (Fuzz[A-Za-z0-9]*).*|\1 \2|; s|^\./[^/]*:[0-9]+:func (Fuzz[A-Za-z0-9]*).*|. \1|' | sort -u)
packages=$(echo "$targets" | cut -d ' ' -f 1 | uniq)
if [ -n "${CHANGED:-}" ] && [ -z "${NIGHTLY:-}" ]; then
	packages=$("$GO" run -C workshop ./nightly "$PWD" $packages)
	targets=$(for package in $packages; do echo "$targets" | grep -F "$package Fuzz"; done)
	[ -n "$targets" ] || exit 0
fi
for package in $packages; do
	mkdir -p "$built/$package"
	"$GO" test -c -fuzz . -o "$built/$package/fuzz.test" "$package"
done
# Go 1.26 may say "context deadline exceeded" of a target whose time is up (golang/go#75804, mended in 1.27). With no other
# word, and no input kept, it is tried again, three times at most.
echo "$targets" | xargs -P 2 -n 2 sh -c '
	cache="$("$GO" env GOCACHE)/fuzz/$("$GO" list "$0")"
	for try in 1 2 3; do
		if out=$(cd "$0" && "$built/$0/fuzz.test" -test.run "^$" -test.fuzz "^$1\$" -test.fuzztime "$FUZZTIME" -test.fuzzminimizetime 1s \
			-test.parallel 2 -test.fuzzcachedir "$cache" 2>&1); then
			echo "$0 $1: $(echo "$out" | grep -o "execs: [0-9]*" | tail -1)"
			exit 0
		fi
		[ "$(echo "$out" | grep -v -e "^fuzz: elapsed" -e "^--- FAIL: $1 " -e "^FAIL$")" = "    context deadline exceeded" ] || break
	done
	echo "$0 $1 failed:"; echo "$out"; exit 255'
