package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func workshopStep() step {
	return step{
		"workshop", func(t *tree) bool { return t.there["workshop"] }, (*tree).workshop,
		"workshop: what only builders need is a module of its own",
		"bench, e2e, webtest, what runs tests again and again, the tools and the\ntests of the whole tree. The product's go.mod loses what only they import.\nThe tools that moved the tree go with it.",
	}
}

// workshop moves what only builders need, and makes it a module.
func (t *tree) workshop() error {
	oldMods := map[string]string{}
	for _, dir := range []string{".", "webtest", "tools"} {
		for _, base := range []string{"go.mod", "go.sum"} {
			text, err := os.ReadFile(filepath.Join(t.root, dir, base))
			if err != nil {
				return err
			}
			oldMods[dir+"/"+base] = string(text)
		}
	}
	if _, err := run(t.root, "git", "rm", "-rq", "--cached", "tools/moves"); err == nil {
		if err := os.RemoveAll(filepath.Join(t.root, "tools/moves")); err != nil {
			return err
		}
	}
	if _, err := run(t.root, "git", "rm", "-q", "webtest/go.mod", "webtest/go.sum"); err != nil {
		return err
	}
	if err := t.list(); err != nil {
		return err
	}
	moves := []move{
		{"bench", "workshop/bench"},
		{"e2e", "workshop/e2e"},
		{"webtest", "workshop/webtest"},
		{"internal/testenv/engines", "workshop/engines"},
		{"internal/testenv/house", "workshop/house"},
		{"internal/testenv/mutants", "workshop/mutants"},
		{"internal/testenv/stress", "workshop/stress"},
		{"internal/testenv/program", "workshop/program"},
		{"tools/nightly", "workshop/nightly"},
		{"tools/release", "workshop/release"},
		{"tools/rename", "workshop/rename"},
		{"tools", "workshop/tools"},
	}
	for _, name := range houseTests() {
		moves = append(moves, move{name, "workshop/rules/" + name})
	}
	if err := t.move(moves...); err != nil {
		return err
	}
	for _, f := range []func() error{t.house, t.makefile, t.scripts, t.nightly, t.commands, t.workshopWords, func() error { return t.modules(oldMods) }} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// modules writes the module's go.mod and has all three tidied.
func (t *tree) modules(old map[string]string) error {
	requires := regexp.MustCompile(`(?ms)^require \(\n(.*?)^\)|^require ([^(\n]+)$`)
	goLine := regexp.MustCompile(`(?m)^go \S+$`)
	var text strings.Builder
	text.WriteString("module " + t.module + "/workshop\n\n" + goLine.FindString(old["./go.mod"]) + "\n\nreplace " + t.module + " => ../\n\nrequire (\n")
	sums := map[string]bool{}
	for _, dir := range []string{".", "webtest", "tools"} {
		for _, m := range requires.FindAllStringSubmatch(old[dir+"/go.mod"], -1) {
			for line := range strings.Lines(m[1] + m[2] + "\n") {
				if fields := strings.Fields(line); len(fields) >= 2 && (dir != "tools" || !strings.Contains(line, "// indirect")) && fields[0] != t.module {
					text.WriteString("\t" + strings.TrimSpace(line) + "\n")
				}
			}
		}
		for line := range strings.Lines(old[dir+"/go.sum"]) {
			sums[line] = true
		}
	}
	text.WriteString("\t" + t.module + " v0.0.0-00010101000000-000000000000\n)\n")
	if err := t.add("workshop/go.mod", text.String()); err != nil {
		return err
	}
	var sorted []string
	for line := range sums {
		sorted = append(sorted, line)
	}
	slices.Sort(sorted)
	if err := t.add("workshop/go.sum", strings.Join(sorted, "")); err != nil {
		return err
	}
	if err := t.edit("go.mod", func(text string) string {
		return regexp.MustCompile(`(?m)^\t\S*tools/openapi/node_modules\n`).ReplaceAllString(text, "")
	}); err != nil {
		return err
	}
	for _, dir := range []string{"workshop", ".", "workshop/tools"} {
		if _, err := run(filepath.Join(t.root, dir), "go", "mod", "tidy"); err != nil {
			return err
		}
	}
	return nil
}

// house makes a package of the tests of the whole tree.
func (t *tree) house() error {
	for _, name := range houseTests() {
		if err := t.edit("workshop/rules/"+name, func(text string) string {
			return strings.Replace(text, "package leaderboard_test\n", "package rules\n", 1)
		}); err != nil {
			return err
		}
	}
	for name, text := range rulesFiles() {
		if err := t.add("workshop/rules/"+name, text); err != nil {
			return err
		}
	}
	if err := t.workshopRows(); err != nil {
		return err
	}
	return t.apply(
		change{"workshop/rules/imports_test.go", "\t\trule, ok := rules[path.Dir(file)]\n", "\t\tdir := path.Dir(file)\n\t\tif strings.HasPrefix(dir, \"workshop/\") {\n\t\t\tdir = \"workshop\"\n\t\t}\n\t\trule, ok := rules[dir]\n"},
		change{"workshop/rules/imports_test.go", "\t\t\"github.com/Shopify/toxiproxy/v2/...\", ", "\t\t"},
		change{"workshop/rules/house_test.go", "// goFiles lists the Go files of this module.\n", "// goFiles lists the Go files of the product and of the workshop.\n"},
		change{"workshop/rules/house_test.go", `path.Base(name) == "go.mod" && name != "go.mod"`, `path.Base(name) == "go.mod" && name != "go.mod" && name != "workshop/go.mod"`},
		change{"workshop/rules/house_test.go", "// filesWhere lists the files of this module and of those below it", "// filesWhere lists the files of all modules"},
		change{"workshop/rules/house_test.go", "// allGoFiles lists the Go files of this module and of those below it", "// allGoFiles lists the Go files of all modules"},
		change{"workshop/rules/docs_test.go", `[]string{"deploy", "examples/sqlite", "workshop/nightly", "workshop/release", "workshop/rename", "workshop/webtest"}`, `[]string{"deploy", "examples/sqlite"}`},
		change{"workshop/rules/docs_test.go", "const doc, unlinted = \"docs/decisions/libraries.md\", \"workshop/tools/goreleaser\"\n", "const doc = \"docs/decisions/libraries.md\"\n\tunlinted := []string{\"workshop/tools\", \"workshop/tools/goreleaser\"} // they have no Go files\n"},
		change{"workshop/rules/docs_test.go", "append(strings.Fields(list), unlinted)", "append(strings.Fields(list), unlinted...)"},
		change{"workshop/rules/knots_test.go", `	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./...").Output()
	if err != nil {
		t.Fatalf("go list -export: %s", err)
	}
	built := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		built[name] = file
	}
`, `	built := map[string]string{}
	for _, module := range []string{"workshop", "."} {
		list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./...")
		list.Dir = module
		out, err := list.Output()
		if err != nil {
			t.Fatalf("go list -export in %s: %s", module, err)
		}
		for line := range strings.Lines(string(out)) {
			name, file, _ := strings.Cut(strings.TrimSpace(line), " ")
			built[name] = file
		}
	}
`},
	)
}

// rulesFiles returns the texts of new files of workshop/rules.
func rulesFiles() map[string]string {
	return map[string]string{
		"main_test.go": `// Package rules holds the tests of the whole tree: what may import what, documents, names, and layers inside of packages.
package rules

import (
	"fmt"
	"os"
	"testing"
)

// TestMain runs the tests at the top of the tree.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
`,
		"versions_test.go": `package rules

import (
	"regexp"
	"testing"
)

// TestVersions: the workshop builds the product with the versions of the product's go.mod, so its tests are about what users run.
func TestVersions(t *testing.T) {
	t.Parallel()
	product, shared := versions(t, "go.mod"), 0
	for name, version := range versions(t, "workshop/go.mod") {
		if want, ok := product[name]; ok {
			if shared++; version != want {
				t.Errorf("workshop/go.mod has %s %s, go.mod has %s", name, version, want)
			}
		}
	}
	if shared < 20 {
		t.Errorf("found %d modules in both, the search is broken", shared)
	}
}

// versions returns the versions that a go.mod requires, by module.
func versions(t *testing.T, file string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\t(\\S+) (v\\S+)").FindAllStringSubmatch(readDoc(t, file), -1) {
		found[m[1]] = m[2]
	}
	return found
}
`,
	}
}

// workshopRows makes one row of all packages of the workshop, in the rules of imports and in the table of ARCHITECTURE.md.
func (t *tree) workshopRows() error {
	row := regexp.MustCompile(`(?m)^\t\t\{dir: "(workshop/\w+|deploy)[^\n]*\},?(\s*//[^\n]*)?\n|^\t\t\{\n\t\t\tdir: "workshop/(?:.*\n)*?\t\t\},\n`)
	if err := t.edit("workshop/rules/imports_test.go", func(text string) string {
		text = row.ReplaceAllString(text, "")
		return strings.Replace(text, "\t\t{dir: \"examples/sqlite\", any: true}", "\t\t{dir: \"workshop\", any: true},        // a module of its own, held by its go.mod besides\n\t\t{dir: \"deploy\", any: true},          // and this\n\t\t{dir: \"examples/sqlite\", any: true}", 1)
	}); err != nil {
		return err
	}
	return t.edit("ARCHITECTURE.md", func(text string) string {
		text = regexp.MustCompile("(?m)^\\| `workshop/(stress|engines)`.*\\n").ReplaceAllString(text, "")
		text = strings.Replace(text, "`workshop/program`, ", "", 1)
		text = strings.Replace(text, "test programs, built and run again and again; ", "", 1)
		return regexp.MustCompile("(?m)^\\| `workshop/bench`.*$").ReplaceAllString(text, "| `workshop`, `deploy`, `examples/sqlite` | what only builders need: `bench` and `house` measure the service and the tree, `e2e` has faults against real processes, `webtest` the pages in a real browser, `rules` the tests of the whole tree, `engines`, `stress` and `mutants` run tests on other servers, many times, and with a line broken; what the service is run with elsewhere, with Kubernetes' types; [a second store](docs/events.md#an-example-an-sqlite-file). A module each | everything |")
	})
}

// makefile changes how the targets find what has moved.
func (t *tree) makefile() error {
	if err := t.edit("Makefile", func(text string) string {
		text = regexp.MustCompile(`build -o bin/(engines|stress|mutants|bench|house) \./workshop/(\w+)`).ReplaceAllString(text, "build -C workshop -o ../bin/$1 ./$2")
		text = regexp.MustCompile(`build -trimpath -o bin/bench \./workshop/bench`).ReplaceAllString(text, "build -C workshop -trimpath -o ../bin/bench ./bench")
		text = regexp.MustCompile(`test (-count=1 .*) \./workshop/e2e\n`).ReplaceAllString(text, "test -C workshop $1 ./e2e\n")
		return strings.ReplaceAll(text, "$(CURDIR)/tools/go.mod", "$(CURDIR)/workshop/tools/go.mod")
	}); err != nil {
		return err
	}
	return t.apply(
		change{"Makefile", "./store/...'. Several targets have kinds: make test KIND=web.\n", "./store/...'. Several targets have kinds: make test KIND=web. IN names the\n# module of TESTARGS: make test IN=workshop TESTARGS=./e2e.\n"},
		change{"Makefile", "TESTARGS ?= ./...\n", "TESTARGS ?= ./...\nIN       ?= .\n"},
		change{"Makefile", "# One set of servers for the whole run; see internal/testenv. Tests wait more than they work, so more of them run at a time than there are cores.\n", "# One set of servers for the whole run; see internal/testenv. Tests wait more than they work, so more of them run at a time than there are cores: those of\n# the product, and beside them those of the workshop.\nPICK  = $(GO) run -C workshop ./nightly $(if $(NIGHTLY),-all)\nRACES = test -race -parallel 4 -timeout 60m\n"},
		change{
			"Makefile", "\t@set -ef; args=\"$(if $(NIGHTLY),./workshop/e2e ./store ./internal/app ./internal/cli ./...,$$($(GO) run -C tools ./nightly '$(CURDIR)'))\"; set -x; CGO_ENABLED=1 bin/testenv -in-memory $(GO) test -race -p 3 -parallel 4 -timeout 60m $$args\n\t$(GO) test -C tools ./...\n",
			"\t@set -ef; product=\"$$($(PICK) '$(CURDIR)')\"; workshop=\"$$($(PICK) -in workshop '$(CURDIR)')\"; set -x; \\\n\t\tCGO_ENABLED=1 bin/testenv -in-memory sh -cf '(cd workshop && exec $(GO) $(RACES) -p 1 $$1) & $(GO) $(RACES) -p 2 $$0; status=$$?; wait $$! && exit $$status' \"$$product\" \"$$workshop\"\n",
		},
		change{"Makefile", "\tCGO_ENABLED=1 bin/testenv -in-memory $(GO) test -race -p 3 -parallel 4 -timeout 60m $(TESTARGS)\n", "\tCGO_ENABLED=1 bin/testenv -in-memory $(GO) test -C $(IN) -race -p 3 -parallel 4 -timeout 60m $(TESTARGS)\n"},
		change{"Makefile", "$(GO) test -C webtest -count=1 -tags screenshots -run TestScreenshots .\n", "$(GO) test -C workshop -count=1 -tags screenshots -run TestScreenshots ./webtest\n"},
		change{"Makefile", "$(GO) test -C webtest -count=1 -timeout 15m $(WEBARGS) ./...\n", "$(GO) test -C workshop -count=1 -timeout 15m $(WEBARGS) ./webtest\n"},
		change{"Makefile", "deploy examples webtest tools workshop/tools/openapi; do", "deploy examples workshop workshop/tools/openapi; do"},
		change{"Makefile", "$(GO) run -C tools ./rename", "$(GO) run -C workshop ./rename"},
		change{"Makefile", "TESTARGS='-run TestLinearizable ./workshop/e2e'", "IN=workshop TESTARGS='-run TestLinearizable ./e2e'"},
		change{"Makefile", "$(GO) test -count=1 -v -p 1 -timeout 8h $(TESTARGS)\n", "$(GO) test -C $(IN) -count=1 -v -p 1 -timeout 8h $(TESTARGS)\n"},
		change{"docs/torture.md", "`make torture` runs all tests at the sizes of", "`make torture` and `make torture IN=workshop` run all tests at the sizes of"},
		change{"docs/torture.md", "`TESTARGS='-run TestLinearizable ./workshop/e2e'`", "`IN=workshop TESTARGS='-run TestLinearizable ./e2e'`"},
	)
}

// scripts changes what shell scripts and configurations do with folders.
func (t *tree) scripts() error {
	top := regexp.MustCompile(`(\$\(dirname [^)]*\)/)\.\."`)
	for _, name := range []string{"client.sh", "fuzz.sh", "release.sh", "size.sh", "vuln.sh", "web.sh"} {
		if err := t.edit("workshop/tools/"+name, func(text string) string { return top.ReplaceAllString(text, `${1}../.."`) }); err != nil {
			return err
		}
	}
	return t.apply(
		change{"workshop/tools/fuzz.sh", `run -C tools ./nightly`, `run -C workshop ./nightly`},
		change{"workshop/tools/release.sh", `build -C tools -o ../bin/release ./release`, `build -C workshop -o ../bin/release ./release`},
		change{"workshop/tools/release.sh", `"$scratch/one/tools/release.sh"`, `"$scratch/one/workshop/tools/release.sh"`},
		change{"workshop/tools/release.sh", `"$scratch/a/longer/way/to/the/other/tools/release.sh"`, `"$scratch/a/longer/way/to/the/other/workshop/tools/release.sh"`},
		change{"workshop/tools/vuln.sh", `build -C tools -o ../bin/govulncheck`, `build -C workshop/tools -o ../../bin/govulncheck`},
		change{"workshop/tools/size.sh", `/^(internal|cache|store)$/`, `/^(internal|cache|store|workshop)$/`},
		change{"workshop/tools/size.sh", `/^(bench|deploy|e2e|examples|webtest|tools)$/`, `/^(deploy|examples|workshop)/`},
		change{"Dockerfile", `go build -C tools -o /out/release ./release`, `go build -C workshop -o /out/release ./release`},
		change{".goreleaser.yaml", `go build -C tools -o ../bin/release ./release`, `go build -C workshop -o ../bin/release ./release`},
		change{".gitignore", "/tools/openapi/out/\n", "/workshop/tools/openapi/out/\n"},
	)
}

// nightly has the choice of tests made for one module at a time.
func (t *tree) nightly() error {
	const main = "workshop/nightly/main.go"
	if err := t.edit("workshop/nightly/main_test.go", func(text string) string {
		return strings.ReplaceAll(text, "arguments(root, ", "arguments(root, choice{}, ")
	}); err != nil {
		return err
	}
	return t.apply(
		change{main, "//\tgo run -C tools ./nightly \"$PWD\"\n//\n// With packages", "//\tgo run -C workshop ./nightly \"$PWD\"\n//\tgo run -C workshop ./nightly -in workshop \"$PWD\"\n//\n// The second is about the tests of the module in that folder. With -all none is left out. With packages"},
		change{main, "go run -C tools ./nightly \"$PWD\" ./rank", "go run -C workshop ./nightly \"$PWD\" ./rank"},
		change{
			main, "\tif len(os.Args) < 2 {\n\t\tfmt.Fprintln(os.Stderr, \"usage: nightly FOLDER [PACKAGE …]\")\n\t\tos.Exit(2)\n\t}\n\tif len(os.Args) > 2 {\n\t\tfmt.Println(strings.Join(changedPackages(os.Args[1], os.Args[2:], os.Stderr), \"\\n\"))\n\t\treturn\n\t}\n\targs, err := arguments(os.Args[1], os.Stderr)\n",
			"\tvar c choice\n\tflag.StringVar(&c.in, \"in\", \"\", \"folder of the module whose tests are chosen (default: that of the product)\")\n\tflag.BoolVar(&c.all, \"all\", false, \"leave nothing out\")\n\tflag.Parse()\n\tif flag.NArg() == 0 {\n\t\tfmt.Fprintln(os.Stderr, \"usage: nightly [-in MODULE] [-all] FOLDER [PACKAGE …]\")\n\t\tos.Exit(2)\n\t}\n\tif flag.NArg() > 1 {\n\t\tfmt.Println(strings.Join(changedPackages(flag.Arg(0), flag.Args()[1:], os.Stderr), \"\\n\"))\n\t\treturn\n\t}\n\targs, err := arguments(flag.Arg(0), c, os.Stderr)\n",
		},
		change{main, "\t\"errors\"\n\t\"fmt\"\n", "\t\"errors\"\n\t\"flag\"\n\t\"fmt\"\n"},
		change{main, "// row names tests and their subjects.", "// choice says which tests are looked at.\ntype choice struct {\n\tin  string // folder of their module below the root, \"\" for the root's own\n\tall bool   // leave none out\n}\n\n// has reports whether a package is of the module.\nfunc (c choice) has(pkg string) bool {\n\treturn strings.HasPrefix(pkg, c.in) && (c.in != \"\" || !strings.HasPrefix(pkg, \"workshop/\"))\n}\n\n// apart are packages that have a target of their own: the browser's tests are make test-web.\nvar apart = []string{\"workshop/webtest\"}\n\n// row names tests and their subjects."},
		change{main, `"Makefile", ".ci/nightly"`, `"workshop/go.mod", "workshop/go.sum", "Makefile", ".ci/nightly"`},
		change{main, "func arguments(root string, said io.Writer) ([]string, error) {\n\trows, err := readRows(root)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n", "func arguments(root string, c choice, said io.Writer) ([]string, error) {\n\trows, err := readRows(root)\n\tif err != nil {\n\t\treturn nil, err\n\t}\n\trows = slices.DeleteFunc(rows, func(r row) bool { return !c.has(r.own) })\n"},
		change{main, "\tout := map[string]bool{} // whole packages\n\tfor _, r := range leftOut(root, rows, said) {\n", "\tout := map[string]bool{} // whole packages\n\tfor _, name := range apart {\n\t\tout[name] = true\n\t}\n\tvar left []row\n\tif !c.all {\n\t\tleft = leftOut(root, rows, said)\n\t}\n\tfor _, r := range left {\n"},
		change{main, `dirs, err := command(root, "go", "list", "-e", "-f", "{{.Dir}}", "./...")`, `dirs, err := command(filepath.Join(root, c.in), "go", "list", "-e", "-f", "{{.Dir}}", "./...")`},
		change{main, "\t\t\targs, out[name] = append(args, \"./\"+name), true\n", "\t\t\targs, out[name] = append(args, \"./\"+strings.TrimPrefix(name, c.in+\"/\")), true\n"},
	)
}

// commands changes Go code that knows where it stands.
func (t *tree) commands() error {
	return t.apply(
		change{"workshop/program/program.go", `GoTool(ctx, dir, slices.Concat([]string{"build", "-buildvcs=false"}, flags, []string{"-o", server, "../cmd/leaderboard"})...)`, `GoTool(ctx, filepath.Join(dir, "../.."), slices.Concat([]string{"build", "-buildvcs=false"}, flags, []string{"-o", server, "./cmd/leaderboard"})...)`},
		change{"workshop/program/program.go", "such as testenv/stress and testenv/mutants: it builds", "such as stress and mutants: it builds"},
		change{"workshop/stress/main.go", "\tpackages []string\n", "\tin       string         // folder of the module of the packages\n\tpackages []string\n"},
		change{"workshop/stress/main.go", "\tflag.StringVar(&o.dir, \"dir\",", "\tflag.StringVar(&o.in, \"in\", \".\", \"folder of the module whose packages are run\")\n\tflag.StringVar(&o.dir, \"dir\","},
		change{"workshop/stress/main.go", "//\tmake stress ARGS='-n 20 -for 30m ./cache ./refresher'\n", "//\tmake stress ARGS='-n 20 -for 30m ./cache ./refresher'\n//\tmake stress ARGS='-in workshop ./e2e'\n"},
		change{"workshop/stress/program.go", `program.GoTool(ctx, ".", append(list, o.packages...)...)`, `program.GoTool(ctx, o.in, append(list, o.packages...)...)`},
		change{"workshop/rename/main_test.go", "\trun(t, root, \"vet\", \"./...\")\n\trun(t, root, \"test\", \".\") // its tables of imports and its documents\n", "\trun(t, root, \"vet\", \"./...\")\n\tworkshop := filepath.Join(root, \"workshop\")\n\trun(t, workshop, \"vet\", \"./...\")\n\trun(t, workshop, \"test\", \"./rules\") // its tables of imports and its documents\n"},
		change{"workshop/house/structure.go", `"bench", "e2e", "webtest", "deploy", "examples", "tools", "workshop", "client"`, `"workshop", "deploy", "examples", "client"`},
		change{"workshop/house/requests.go", `GoTool(ctx, ".", "build", "-cover"`, `GoTool(ctx, "workshop", "build", "-cover"`},
		change{"workshop/house/requests.go", `serverPackage = "./workshop/house/server"`, `serverPackage = "./house/server"`},
		change{"workshop/engines/list.go", `[]string{"audit", "commit", "derived", "entries", "read", "sweep"} {` + "\n\t\tsuites = append(suites, suite{pkg: \"store/internal/\" + pkg})\n", `[]string{"internal/entries", "store/internal/audit", "store/internal/commit", "store/internal/derived", "store/internal/read", "store/internal/sweep"} {` + "\n\t\tsuites = append(suites, suite{pkg: pkg})\n"},
	)
}

// workshopWords changes what documents say of all this.
func (t *tree) workshopWords() error {
	if err := t.edit("docs/promises.md", func(text string) string { return strings.ReplaceAll(text, "`.`: ", "`workshop/rules`: ") }); err != nil {
		return err
	}
	if err := t.edit("docs/engines.md", func(text string) string {
		return regexp.MustCompile(`([|;] )e2e (\d)`).ReplaceAllString(text, "${1}workshop/e2e $2")
	}); err != nil {
		return err
	}
	command := regexp.MustCompile(`go test ([^` + "`" + `\n]*)\./workshop/(\w+)`)
	for _, name := range t.files {
		if ext := filepath.Ext(name); ext != ".md" && ext != ".go" {
			continue
		}
		if err := t.edit(t.at(name), func(text string) string { return command.ReplaceAllString(text, "go test -C workshop ${1}./$2") }); err != nil {
			return err
		}
	}
	const doc = "docs/decisions/libraries.md"
	return t.apply(
		change{doc, "## The tools are modules of their own\n", "## What only builders need is a module of its own\n"},
		change{doc, "`workshop/webtest` (the browser's\nprotocol), `workshop/tools` (linters, formatter, lists of parts), `workshop/tools/openapi` (another version of what the tests read the\nOpenAPI document with)", "`workshop` (network\nfaults, a checker of histories, the browser's protocol, lists of parts), `workshop/tools` (linters, formatter), `workshop/tools/openapi`\n(another version of what the tests read the OpenAPI document with)"},
		change{doc, "all but `workshop/tools/goreleaser` ([why](operating.md#a-release-can-be-built-again-by-anyone)) and holds", "all but `workshop/tools` and `workshop/tools/goreleaser` ([why](operating.md#a-release-can-be-built-again-by-anyone)), which have no Go files, and holds"},
		change{doc, "`make test` runs the tests of the service, `workshop/tools` and `examples`, `make test-tools` and `make test-web` those of `deploy` and\n`workshop/webtest`.", "`make test` runs the tests of the service, `workshop` and `examples`, `make test-tools` and `make test-web` those of `deploy` and\n`workshop/webtest`."},
		change{doc, "could not be seen. `workshop/bench` was a module too, for a library that drew a plot; it has only tables now, and is in the\nservice's.", "could not be seen. `workshop` is one module: its folders share what they import, and test the product's packages."},
		change{doc, "`deploy`, `examples` and `workshop/webtest` test packages", "`deploy`, `examples` and `workshop` test packages"},
	)
}
