#!/bin/sh
# Lines and files of Go per folder: the product, its tests, and what supports either. make size.
set -eu
cd "$(dirname "$0")/../.."
git ls-files '*.go' | awk '
	function folder(path) { n = split(path, p, "/"); return n == 1 ? "." : n == 2 || p[1] !~ /^(internal|cache|store|workshop)$/ ? p[1] : p[1] "/" p[2] (p[2] == "internal" && n > 3 ? "/" p[3] : "") }
	function kind(f) { return f ~ /^(deploy|examples|workshop)/ ? "tools" : f ~ /testenv|apptest|leaks|storetest|cachetest|plantest/ ? "test support" : f ~ /devserver|demo|child/ ? "dev" : f ~ /^client$/ ? "client" : "product" }
	{
		f = folder($0); test = $0 ~ /_test\.go$/
		while ((getline line < $0) > 0) if (test) tests[f]++; else lines[f]++
		close($0)
		if (!test) files[f]++
		seen[f]
	}
	END {
		for (f in seen) {
			k = kind(f); l[k] += lines[f]; t[k] += tests[f]; c[k] += files[f]; al += lines[f]; at += tests[f]; ac += files[f]
			printf "%-20s %-26s %6d %7d %7d\n", k, f, files[f], lines[f], tests[f] | "sort"
		}
		close("sort")
		print ""
		for (k in l) printf "%-47s %6d %7d %7d\n", k, c[k], l[k], t[k] | "sort"
		close("sort")
		printf "%-47s %6d %7d %7d\n", "all", ac, al, at
	}
	BEGIN { printf "%-20s %-26s %6s %7s %7s\n", "kind", "folder", "files", "lines", "tests"; fflush() }'
