#!/bin/bash
# Holds the modules against go.sum, and what the program calls of them and of Go against the known vulnerabilities. The
# database of these is on the internet: GOVULNDB names another copy of it, https://… or file:///folder. Exit statuses: 0
# none is known, 3 some are, 2 nobody knows, since the database could not be read.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
go=${GO:-go}
"$go" mod verify
mkdir -p bin
"$go" build -C workshop/tools -o ../../bin/govulncheck golang.org/x/vuln/cmd/govulncheck
database=${GOVULNDB:-https://vuln.go.dev}
status=0
said=$(bin/govulncheck -db "$database" ./... 2>&1) || status=$?
echo "$said"
if [[ $said == *"fetching vulnerabilities"* ]]; then
	echo "The database of vulnerabilities, $database, could not be read: nothing was compared with it. Run this where it can be" \
		"reached, or name a copy: GOVULNDB=file:///folder make vuln" >&2
	exit 2
fi
exit "$status"
