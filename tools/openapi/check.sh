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

# redocly is the tool that wants the newest Node.js.
node_is_new() { node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 12) || (a === 20 && b >= 19) ? 0 : 1)'; }
if ! command -v node >/dev/null || ! command -v npm >/dev/null || ! node_is_new; then
	echo "make openapi needs Node.js 20.19, or 22.12 and later, with npm, and found: node $(node --version 2>/dev/null || echo none)," \
		"npm $(npm --version 2>/dev/null || echo none). https://nodejs.org has them; nothing else in this project needs them." >&2
	exit 1
fi
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
	step "npm ci" npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
fi

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
