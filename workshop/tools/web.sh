#!/bin/bash
# Builds the pages of web/ into features/pages/built. With --check it builds them elsewhere, and fails when what is committed is
# something else.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. workshop/tools/node.sh
need_node "make ${1:+test-}web"
cd web
npm_ci
npm run --silent check
if [ "${1:-}" != --check ]; then
	exec npm run --silent build
fi
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
npm run --silent build -- --outDir "$out" --logLevel warn
if ! diff -rq "$out" ../features/pages/built; then
	echo "features/pages/built is not what web/ is built into: make web" >&2
	exit 1
fi
