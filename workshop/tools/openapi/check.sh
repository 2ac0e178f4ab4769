#!/bin/bash
# Holds api/openapi.yaml to redocly and spectral, and compiles the Go client that oapi-codegen makes of it. With
# LEADERBOARD_URL and LEADERBOARD_KEY, an admin key, the client is run against that server too: it makes board openapi-go
# and member openapi-ada, and deletes them. What openapi-typescript makes is in clients/typescript.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
go=${GO:-go}
document=../../../api/openapi.yaml
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true

step() {
	echo "==> $1"
	shift
	"$@"
}

. ../node.sh
need_node "make openapi" # redocly is the tool that wants the newest
step "npm ci" npm_ci

rm -rf out
trap 'rm -rf out' EXIT
mkdir -p out/api
step redocly node_modules/.bin/redocly lint "$document"
step spectral node_modules/.bin/spectral lint --fail-severity=hint "$document"
step oapi-codegen "$go" tool oapi-codegen -config oapi-codegen.yaml "$document"
step "go vet" "$go" vet ./out/api ./testdata/go
step "go build" "$go" build -o out/client ./testdata/go

if [ -n "${LEADERBOARD_URL:-}" ]; then
	step "the Go client on $LEADERBOARD_URL" out/client "$LEADERBOARD_URL" "${LEADERBOARD_KEY:-}"
fi
