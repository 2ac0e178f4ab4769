#!/bin/bash
# Holds httpapi/openapi.yaml to redocly and spectral, and compiles the clients that oapi-codegen (Go) and openapi-typescript
# make of it. With LEADERBOARD_URL and LEADERBOARD_KEY, an admin key, both clients are run against that server too: they
# make boards openapi-go and openapi-ts and member openapi-ada, and delete them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
go=${GO:-go}
document=../../httpapi/openapi.yaml
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true

step() {
	echo "==> $1"
	shift
	"$@"
}

# types runs openapi-typescript from elsewhere: here it would read redocly's configuration, which is for another version.
types() (cd out && ../node_modules/.bin/openapi-typescript "../$document" -o api.d.ts)

. ../node.sh
need_node "make openapi" # redocly is the tool that wants the newest
step "npm ci" npm_ci

rm -rf out
mkdir -p out/api
step redocly node_modules/.bin/redocly lint "$document"
step spectral node_modules/.bin/spectral lint --fail-severity=hint "$document"
step oapi-codegen "$go" tool oapi-codegen -config oapi-codegen.yaml "$document"
step "go vet" "$go" vet ./out/api ./testdata/go
step "go build" "$go" build -o out/client ./testdata/go
step openapi-typescript types
step "tsc --strict" node_modules/.bin/tsc -p .

if [ -n "${LEADERBOARD_URL:-}" ]; then
	step "the Go client on $LEADERBOARD_URL" out/client "$LEADERBOARD_URL" "${LEADERBOARD_KEY:-}"
	step "the TypeScript client on $LEADERBOARD_URL" node out/js/testdata/ts/client.js "$LEADERBOARD_URL" "${LEADERBOARD_KEY:-}"
fi
