#!/bin/bash
# Makes clients/typescript: what is generated of httpapi/web/openapi.json, and JavaScript in dist. With --check nothing is
# generated: it fails when what is committed is something else, and runs the tests against the server LEADERBOARD_URL with
# the admin key LEADERBOARD_KEY.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/node.sh
cd clients/typescript
need_node "clients/typescript"
npm_ci
if [ "${1:-}" != --check ]; then
	npm run --silent generate
	exec npm run --silent build
fi
npm run --silent check
exec npm test --silent
