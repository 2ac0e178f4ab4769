package rules

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// maxWords is the number of words at which a document is no longer read at once; maxAllWords is for all of them, maxDecisionWords
// for a section of docs/decisions without its tables.
var maxWords = map[string]int{"ARCHITECTURE.md": 1299, "README.md": 900, "CONTRIBUTING.md": 700}

const (
	maxAllWords      = 50_000
	maxDecisionWords = 250
	minExamples      = 25 // of leaderboard, rank, client and api
)

// maxLinesWithoutContents is how long a document may be that does not begin with a list of its sections.
const maxLinesWithoutContents = 150

var (
	fencedCode  = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	codeSpan    = regexp.MustCompile("`[^`\n]+`")
	markdownURL = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	tableRow    = regexp.MustCompile(`(?m)^\|.*$`)
	heading     = regexp.MustCompile(`(?m)^#+ +(.+)$`)
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)

	testName = regexp.MustCompile(`\b(?:Test|Benchmark|Fuzz|Example|test)[A-Z]\w*`)
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example|test)[A-Z]\w*)\(`)
	// testsOf finds the tests that a document says are in a package: `store`: TestA, TestB.
	testsOf = regexp.MustCompile("`([a-z0-9/.]+)`:? ((?:(?:Test|Benchmark|Fuzz)[A-Z]\\w*[,\\s]*)+)")

	modBlock = regexp.MustCompile(`(?ms)^(require|tool) (?:\((.*?)^\)|([^(\n]+)$)`)
	// glossaryLine is a word, or several that belong together, and a meaning.
	glossaryLine = regexp.MustCompile(`^- \*\*([a-zN, -]+)\*\*: \S.*\n$`)

	lineComment = regexp.MustCompile(`(?m)^\s*//.*$| // .*$`)
	wordOfName  = regexp.MustCompile(`[A-Z]?[a-z]+`) // a part of a name in camel case

	snakeCase = regexp.MustCompile(`^(?:[a-z]\w*\.)?([a-z]+(?:_[a-z]+)+)$`)
)

// TestDocsAreShort holds documents to the sizes at which people read them, each alone and all together.
func TestDocsAreShort(t *testing.T) {
	for doc, most := range maxWords {
		if n := len(strings.Fields(readDoc(t, doc))); n > most {
			t.Errorf("%s has %d words, want at most %d", doc, n, most)
		}
	}
	all := 0
	for _, doc := range filesWhere(t, func(name string) bool { return path.Ext(name) == ".md" }) {
		all += len(strings.Fields(readDoc(t, doc)))
	}
	if t.Logf("all documents have %d words", all); all > maxAllWords {
		t.Errorf("all documents have %d words, want at most %d", all, maxAllWords)
	}
	sections := 0
	for _, doc := range documents(t) {
		if path.Dir(doc) != "docs/decisions" {
			continue
		}
		for section := range strings.SplitSeq(tableRow.ReplaceAllString(readDoc(t, doc), ""), "\n## ") {
			title, _, _ := strings.Cut(section, "\n")
			if n := len(strings.Fields(section)); n > maxDecisionWords {
				t.Errorf("%s: the decision %q has %d words, want at most %d", doc, title, n, maxDecisionWords)
			}
			sections++
		}
	}
	if sections < 50 {
		t.Errorf("found %d decisions, the search is broken", sections)
	}
}

// TestExamples requires examples of the packages that programs import.
func TestExamples(t *testing.T) {
	example, n := regexp.MustCompile(`(?m)^func Example`), 0
	for _, file := range goFiles(t) {
		if slices.Contains([]string{"leaderboard", "rank", "client", "api"}, path.Dir(file)) {
			n += len(example.FindAllString(readDoc(t, file), -1))
		}
	}
	if n < minExamples {
		t.Errorf("there are %d examples, want at least %d", n, minExamples)
	}
}

// decides is a row of the table of who decides what: a file, and where to begin in it.
var decides = regexp.MustCompile("(?m)^\\| [A-Z][^|]*\\? \\| `([^`]+)` \\| `(\\w+)` \\|$")

// undecided lists what rows of the table name and their files do not have: a function, a type, the code of a problem, or in a
// script of Redis an answer.
func undecided(table string, read func(file string) string) (found []string, rows int) {
	all := decides.FindAllStringSubmatch(table, -1)
	for _, m := range all {
		declared := regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?` + m[2] + `[\[(]|^type ` + m[2] + `\b|\bCode: ` + m[2] + `\b|'` + m[2] + `'`)
		if !declared.MatchString(read(m[1])) {
			found = append(found, m[2]+" of "+m[1])
		}
	}
	return found, len(all)
}

// TestWhoDecides holds the table of ARCHITECTURE.md of who decides what against the files that it names.
func TestWhoDecides(t *testing.T) {
	_, section, _ := strings.Cut(readDoc(t, "ARCHITECTURE.md"), "\n## Who decides\n")
	section, _, _ = strings.Cut(section, "\n## ")
	missing, rows := undecided(section, func(file string) string { return readDoc(t, file) })
	for _, what := range missing {
		t.Errorf("ARCHITECTURE.md: there is no %s", what)
	}
	if lines := strings.Count(section, "\n|") - 2; rows < 10 || rows != lines {
		t.Errorf("found %d of %d rows, the search is broken", rows, lines)
	}
	files := map[string]string{"a.go": "package a\nfunc (q *T[K]) Ask(x int) {}\nfunc g[T any]() { lost() }\n"}
	const table = "| Who? | `a.go` | `Ask` |\n| May it? | `a.go` | `g` |\n| Where? | `a.go` | `lost` |\n| When? | `a.go` | `As` |\n"
	if missing, rows := undecided(table, func(file string) string { return files[file] }); rows != 4 || !slices.Equal(missing, []string{"lost of a.go", "As of a.go"}) {
		t.Errorf("of %d rows these are wrong: %q", rows, missing)
	}
}

// TestDocsNameTests checks that every test named in the documents exists, in the package named with it.
func TestDocsNameTests(t *testing.T) {
	anywhere, byDir := testsInTree(t)
	for _, doc := range documents(t) {
		text := readDoc(t, doc)
		for _, name := range testName.FindAllString(text, -1) {
			if !anywhere[name] {
				t.Errorf("%s: there is no test %s", doc, name)
			}
		}
		for _, m := range testsOf.FindAllStringSubmatch(text, -1) {
			for _, name := range testName.FindAllString(m[2], -1) {
				if anywhere[name] && !byDir[m[1]][name] {
					t.Errorf("%s: %s is not in package %s", doc, name, m[1])
				}
			}
		}
	}
}

// TestDocsLinks holds every relative link of the documents against the files, and its anchor against their headings.
func TestDocsLinks(t *testing.T) {
	for _, doc := range documents(t) {
		for _, link := range linksOf(t, doc) {
			file, anchor, _ := strings.Cut(link, "#")
			target := doc
			if file != "" {
				target = path.Join(path.Dir(doc), file)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere", doc, link)
			} else if anchor != "" && !slices.Contains(anchorsOf(t, target), anchor) {
				t.Errorf("%s: %s has no heading for #%s", doc, target, anchor)
			}
		}
	}
}

// TestDocsIndexes wants every document in the index of its folder.
func TestDocsIndexes(t *testing.T) {
	for _, dir := range []string{"docs", "docs/decisions"} {
		index := path.Join(dir, "README.md")
		links := linksOf(t, index)
		for _, doc := range documents(t) {
			if path.Dir(doc) == dir && doc != index && !slices.Contains(links, path.Base(doc)) {
				t.Errorf("%s is not in %s", doc, index)
			}
		}
	}
	if !slices.Contains(linksOf(t, "README.md"), "docs/README.md") {
		t.Error("README.md does not link to docs/README.md")
	}
}

// TestDocsHaveContents wants links to all of its sections at the top of a long document.
func TestDocsHaveContents(t *testing.T) {
	for _, doc := range documents(t) {
		text := readDoc(t, doc)
		top, _, _ := strings.Cut(text, "\n## ")
		if path.Dir(doc) != "docs" || strings.Count(text, "\n") < maxLinesWithoutContents {
			continue
		}
		for _, m := range heading.FindAllStringSubmatch(withoutFences(text), -1) {
			if anchor := anchorOf(m[1]); strings.HasPrefix(m[0], "## ") && !strings.Contains(top, "](#"+anchor+")") {
				t.Errorf("%s does not link to its section %q at the top", doc, m[1])
			}
		}
	}
}

// TestGlossary wants every word of the glossary explained once, in one line, and used by the code.
func TestGlossary(t *testing.T) {
	seen, used := map[string]bool{}, wordsOfCode(t)
	for line := range strings.Lines(readDoc(t, "docs/glossary.md")) {
		words := glossaryLine.FindStringSubmatch(line)
		if words == nil {
			if strings.HasPrefix(line, "-") || strings.HasPrefix(line, " ") {
				t.Errorf("not a word and its meaning in one line: %s", line)
			}
			continue
		}
		for word := range strings.SplitSeq(words[1], ", ") {
			if seen[word] {
				t.Errorf("%s is explained twice", word)
			}
			seen[word] = true
			for part := range strings.FieldsSeq(word) {
				if !used[part] {
					t.Errorf("%s is explained, and no name in the code has the word %s", word, part)
				}
			}
		}
	}
	if len(seen) < 20 || len(seen) > 35 {
		t.Errorf("the glossary has %d words, want 20 to 35", len(seen))
	}
}

// wordsOfCode returns the words that names and texts in the code of the product consist of, in small letters.
func wordsOfCode(t *testing.T) map[string]bool {
	t.Helper()
	words := map[string]bool{}
	for _, file := range goFiles(t) {
		if isTest(file) || strings.HasPrefix(file, "workshop/") {
			continue
		}
		code := lineComment.ReplaceAllString(readDoc(t, file), "")
		for _, word := range wordOfName.FindAllString(code, -1) {
			word = strings.ToLower(word)
			words[word], words[strings.TrimSuffix(word, "s")] = true, true
		}
	}
	return words
}

// TestDocsNameWhatThereIs holds the snake_case names (tables, columns, JSON) that the documents show as code against the sources.
func TestDocsNameWhatThereIs(t *testing.T) {
	sources := sourceText(t)
	for _, doc := range documents(t) {
		for _, span := range spansIn(withoutFences(readDoc(t, doc))) {
			if m := snakeCase.FindStringSubmatch(span); m != nil && !strings.Contains(sources, m[1]) {
				t.Errorf("%s: no source has the name %s", doc, span)
			}
		}
	}
}

// TestDependencies holds the table of dependencies against the direct requirements and the tools of all go.mod files, and
// against what the pages are made with.
func TestDependencies(t *testing.T) {
	const doc = "docs/decisions/libraries.md"
	_, section, _ := strings.Cut(readDoc(t, doc), "\n## Dependencies, and why\n")
	section, _, _ = strings.Cut(section, "\n## ")
	explained := map[string]bool{}
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) == 5 {
			for name := range strings.SplitSeq(cells[1], ",") {
				explained[strings.TrimSpace(name)] = true
			}
		}
	}
	names := npmPackages(t, "web/package.json")
	for _, dir := range modules(t) {
		names = append(names, requirements(t, path.Join(dir, "go.mod"))...)
	}
	for _, name := range names {
		if _, known := explained[name]; !known {
			t.Errorf("%s does not say why there is %s", doc, name)
		}
		explained[name] = false // not left
	}
	for name, left := range explained {
		if left && strings.Trim(name, "-") != "" {
			t.Errorf("%s says why there is %s, no go.mod has it", doc, name)
		}
	}
}

// TestModules compares the modules in the documents, and the modules that make lint visits, with the go.mod files.
func TestModules(t *testing.T) {
	const doc = "docs/decisions/libraries.md"
	unlinted := []string{"workshop/tools", "workshop/tools/goreleaser"} // they have no Go files
	all, text := modules(t), strings.Join(strings.Fields(readDoc(t, doc)), " ")
	for _, dir := range all {
		if dir != "." && !strings.Contains(text, "`"+dir+"`") {
			t.Errorf("%s does not name %s", doc, dir)
		}
	}
	if numbers := []string{5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}; !strings.Contains(text, " "+numbers[len(all)]+" modules") {
		t.Errorf("%s does not say that there are %d modules", doc, len(all))
	}
	_, rest, _ := strings.Cut(readDoc(t, "Makefile"), "for module in ")
	list, _, _ := strings.Cut(rest, ";")
	linted := append(strings.Fields(list), unlinted...)
	slices.Sort(linted)
	if !slices.Equal(linted, all) {
		t.Errorf("make lint goes through %q, modules are %q", list, all)
	}
}

// modules lists the folders of go.mod files, sorted.
func modules(t *testing.T) []string {
	t.Helper()
	dirs := filesWhere(t, func(name string) bool { return path.Base(name) == "go.mod" })
	for i, file := range dirs {
		dirs[i] = path.Dir(file)
	}
	slices.Sort(dirs)
	return dirs
}

// npmPackages lists what a package.json asks for.
func npmPackages(t *testing.T, file string) []string {
	t.Helper()
	var wants struct{ Dependencies, DevDependencies map[string]string }
	if err := json.Unmarshal([]byte(readDoc(t, file)), &wants); err != nil {
		t.Fatal(err)
	}
	return slices.Concat(slices.Collect(maps.Keys(wants.Dependencies)), slices.Collect(maps.Keys(wants.DevDependencies)))
}

// requirements lists the direct requirements of a go.mod, github.com left out, and the names of its tools.
func requirements(t *testing.T, file string) []string {
	t.Helper()
	var names []string
	for _, block := range modBlock.FindAllStringSubmatch(readDoc(t, file), -1) {
		for line := range strings.Lines(block[2] + block[3]) {
			fields := strings.Fields(line)
			switch {
			case len(fields) == 0 || strings.Contains(line, "// indirect") || fields[0] == module:
			case block[1] == "tool":
				names = append(names, toolName(fields[0]))
			default:
				names = append(names, strings.TrimPrefix(fields[0], "github.com/"))
			}
		}
	}
	if len(names) == 0 {
		t.Fatalf("%s: found no direct requirement and no tool", file)
	}
	return names
}

// toolName returns the name of a program by its import path, which may end in a major version.
func toolName(imported string) string {
	if last := path.Base(imported); last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" {
		imported = path.Dir(imported)
	}
	return path.Base(imported)
}

// spansIn returns the parts of a text of Markdown that are shown as code.
func spansIn(text string) []string {
	names := []string{}
	for _, span := range codeSpan.FindAllString(text, -1) {
		names = append(names, strings.Trim(span, "`"))
	}
	return names
}

// documents lists the documents that people read, by path.
func documents(t *testing.T) []string {
	t.Helper()
	docs := []string{"ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"}
	err := fs.WalkDir(os.DirFS("."), "docs", func(name string, _ fs.DirEntry, err error) error {
		if err == nil && path.Ext(name) == ".md" {
			docs = append(docs, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(docs) < 10 {
		t.Fatalf("found %d documents, the walk is broken", len(docs))
	}
	return docs
}

func readDoc(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func withoutFences(text string) string { return fencedCode.ReplaceAllString(text, "") }

// linksOf lists the relative links of a document, unresolved.
func linksOf(t *testing.T, doc string) []string {
	t.Helper()
	text := codeSpan.ReplaceAllString(withoutFences(readDoc(t, doc)), "")
	var links []string
	for _, m := range markdownURL.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(m[1], "://") && !strings.HasPrefix(m[1], "mailto:") {
			links = append(links, m[1])
		}
	}
	return links
}

// anchorsOf lists the anchors that GitHub gives to the headings of a document.
func anchorsOf(t *testing.T, doc string) []string {
	t.Helper()
	var anchors []string
	seen := map[string]int{}
	for _, m := range heading.FindAllStringSubmatch(withoutFences(readDoc(t, doc)), -1) {
		anchor := anchorOf(m[1])
		if seen[anchor]++; seen[anchor] > 1 {
			anchor += "-" + strconv.Itoa(seen[anchor]-1)
		}
		anchors = append(anchors, anchor)
	}
	return anchors
}

// anchorOf returns the anchor of the first heading with this text.
func anchorOf(title string) string {
	return strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(title), ""), " ", "-")
}

// testsInTree returns the names of all tests, benchmarks and cases of the conformance suite, and the same by folder.
func testsInTree(t *testing.T) (anywhere map[string]bool, byDir map[string]map[string]bool) {
	t.Helper()
	anywhere, byDir = map[string]bool{}, map[string]map[string]bool{}
	files := goFiles(t)
	for _, module := range []string{"deploy", "examples/sqlite"} {
		own, err := filepath.Glob(module + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, own...)
	}
	for _, file := range files {
		dir := path.Dir(file)
		for _, m := range testFunc.FindAllStringSubmatch(readDoc(t, file), -1) {
			if byDir[dir] == nil {
				byDir[dir] = map[string]bool{}
			}
			anywhere[m[1]], byDir[dir][m[1]] = true, true
		}
	}
	return anywhere, byDir
}

// sourceText returns all sources in which a name of the documents can be at home.
func sourceText(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	for _, name := range filesWhere(t, func(name string) bool {
		return slices.Contains([]string{".go", ".sql", ".lua", ".yaml", ".yml"}, path.Ext(name))
	}) {
		all.WriteString(readDoc(t, name))
	}
	return all.String()
}

// TestOneWordingOfOutages: the log, answers and alerts describe an outage in the same words, so a search for one finds the
// others. Programs read that it is the database, operators which one, and players on the pages that the data are delayed.
func TestOneWordingOfOutages(t *testing.T) {
	for file, words := range map[string][]string{
		"internal/mysql/outage.go":                {"MySQL does not answer"},
		"internal/app/servers.go":                 {"Redis does not answer"},
		"refresher/failures.go":                   {"MySQL does not answer"},
		"internal/wire/problems.go":               {"The database does not answer."},
		"deploy/prometheus/leaderboard.rules.yml": {"MySQL does not answer", "Redis does not answer"},
		"docs/alerts.md":                          {"MySQL does not answer", "Redis does not answer"},
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range words {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s does not say %q", file, want)
			}
		}
		for _, other := range []string{"MySQL is away", "Redis is away", "database is away", "MySQL is down", "Redis is down"} {
			if strings.Contains(string(text), other) {
				t.Errorf("%s says %q", file, other)
			}
		}
	}
}
