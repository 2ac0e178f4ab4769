# Sourced by what needs Node.js. need_node ends with the remedy unless there is one that is new enough, with npm.
need_node() {
	if ! command -v node >/dev/null || ! command -v npm >/dev/null ||
		! node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 12) || (a === 20 && b >= 19) ? 0 : 1)'; then
		echo "$1 needs Node.js 20.19, or 22.12 and later, with npm, and found: node $(node --version 2>/dev/null || echo none)," \
			"npm $(npm --version 2>/dev/null || echo none). https://nodejs.org has them; make run and make test do not need them." >&2
		exit 1
	fi
}

# npm_ci installs what package-lock.json in this folder says, unless that was done.
npm_ci() {
	if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
		npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	fi
}
