#!/bin/sh
# Fuzzes every target of the module for FUZZTIME, two at a time. What fails is shown, and kept in the testdata of its
# package, where the tests of every day find it. Run by make fuzz, with servers of testenv/run.
set -eu
export FUZZTIME="${FUZZTIME:-1m}" GO="${GO:-go}"
grep -rn --include='*_test.go' '^func Fuzz' . | sed -E 's|^(\./.*)/[^/]*:[0-9]+:func (Fuzz[A-Za-z0-9]*).*|\1 \2|; s|^\./[^/]*:[0-9]+:func (Fuzz[A-Za-z0-9]*).*|. \1|' |
	sort -u | xargs -P 2 -n 2 sh -c '
		if out=$("$GO" test -run "^$" -fuzz "^$1\$" -fuzztime "$FUZZTIME" -fuzzminimizetime 1s -parallel 2 "$0" 2>&1); then
			echo "$0 $1: $(echo "$out" | grep -o "execs: [0-9]*" | tail -1)"
		else
			echo "$0 $1 failed:"; echo "$out"; exit 255
		fi'
