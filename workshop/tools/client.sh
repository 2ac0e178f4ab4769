#!/bin/bash
# Makes clients/typescript: what is generated of api/openapi.json, and JavaScript in dist. With --check nothing is
# generated: it fails when what is committed is something else, and runs the tests against the server LEADERBOARD_URL with
# the admin key LEADERBOARD_KEY. With --pack, what npm publishes is made in dist of the project, under the name NPM_NAME if there is
# one; at a tag it must have its version.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. workshop/tools/node.sh
cd clients/typescript
need_node "clients/typescript"
npm_ci
if [ "${1:-}" = --pack ]; then
	version=$(node -p 'require("./package.json").version')
	tag=$(git describe --exact-match --tags --match 'v*' HEAD 2>/dev/null || true)
	if [ -n "$tag" ] && [ "$tag" != "v$version" ]; then
		echo "package.json has version $version, and the tag is $tag" >&2
		exit 1
	fi
	npm run --silent build
	mkdir -p ../../dist
	copy=$(mktemp -d)
	trap 'rm -rf "$copy"' EXIT
	cp -R package.json README.md LICENSE dist "$copy"
	cd "$copy"
	npm pkg set name="${NPM_NAME:-@leaderboard/client}"
	npm pkg delete scripts devDependencies
	npm pack --silent --pack-destination "$OLDPWD/../../dist"
	exit
fi
if [ "${1:-}" != --check ]; then
	npm run --silent generate
	exec npm run --silent build
fi
npm run --silent check
exec npm test --silent
