package rules

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// declaration is a comment and the name that is declared below it, of a function, method, type, constant or variable.
var declaration = regexp.MustCompile(`(?m)^// (.*)\n(?://.*\n)*(?:func(?: \([^)]*\))?|type|const|var) (\w+)`)

// misnamed lists declarations whose comments do not begin with their names: "Find returns …", "A Board is …".
func misnamed(text string) (found []string, checked int) {
	all := declaration.FindAllStringSubmatch(text, -1)
	for _, d := range all {
		if !regexp.MustCompile(`^((A|An|The) )?` + d[2] + `\b|^Deprecated:`).MatchString(d[1]) {
			found = append(found, fmt.Sprintf("the comment of %s begins with %.40q", d[2], d[1]))
		}
	}
	return found, len(all)
}

// TestDocComments holds comments of declarations, exported or not and in tests too, to beginning with the name.
func TestDocComments(t *testing.T) {
	t.Parallel()
	checkFiles(t, allGoFiles(t), misnamed, 5000)
	const wrong = "// It is wrong.\nfunc (t *t) f() {}\n// Types are wrong.\n// F is below.\ntype Type int\n// name is wrong.\nvar Name int\n"
	const right = "// F is right.\nfunc F[T any]() {}\n// A T is right.\ntype T int\n// Deprecated: use F.\nconst c = 1\n//go:embed x\nvar x string\n"
	if found, checked := misnamed(wrong + right); len(found) != 3 || checked != 6 {
		t.Errorf("of %d comments these are wrong: %q", checked, found)
	}
}

var (
	constants    = regexp.MustCompile(`(?m)^const \(\n((?:\t.*\n|\n)*)\)`)
	enumConstant = regexp.MustCompile(`^\t(\w+)(?: +(\w+) += (?:"|iota))?`)
)

// unprefixed lists constants of enums that do not carry the name of their type: Applied, not StatusApplied. An enum is a
// block of constants with a type whose values are strings or iota; a constant without type and value has the type and the
// value rule of its predecessor.
func unprefixed(text string) (found []string, checked int) {
	for _, block := range constants.FindAllStringSubmatch(text, -1) {
		enum := ""
		for line := range strings.Lines(block[1]) {
			m := enumConstant.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			if m[2] != "" || strings.Contains(line, "=") {
				enum = m[2]
			}
			if enum != "" {
				if checked++; !strings.HasPrefix(m[1], enum) {
					found = append(found, fmt.Sprintf("the constant %s of type %s must be called %s…", m[1], enum, enum))
				}
			}
		}
	}
	return found, checked
}

// TestEnumNames holds constants of enums to carrying the name of their type.
func TestEnumNames(t *testing.T) {
	t.Parallel()
	checkFiles(t, goFiles(t), unprefixed, 50)
	found, checked := unprefixed("const (\n\tStatusOn Status = \"on\"\n\tOff Status = \"off\" // why\n)\nconst (\n\t// a\n\tKindA Kind = iota\n\tB\n\n\tplain = 1\n)\n")
	if len(found) != 2 || checked != 4 {
		t.Errorf("of %d constants these are wrong: %q", checked, found)
	}
}

// TestAgesAreOfTheTimeThatPasses denies numbers of nanoseconds since 1970 outside of tests: an age counted with them leaps
// with the clock of the machine (docs/decisions/order.md). A time.Time, or the time since one, does not.
func TestAgesAreOfTheTimeThatPasses(t *testing.T) {
	t.Parallel()
	for _, file := range goFiles(t) {
		if !isTest(file) && strings.Contains(readDoc(t, file), ".UnixNano()") {
			t.Errorf("%s counts nanoseconds since 1970: take a time.Time, or the time since one that the owner keeps", file)
		}
	}
}

// TestRedisClientsStayInside denies the client types of go-redis outside of the folders that need them: a package with one of
// them among its types, or in a function that it inlines, compiles 4,464 methods of the library, for about a second.
func TestRedisClientsStayInside(t *testing.T) {
	t.Parallel()
	clients := regexp.MustCompile(`\bredis\.(\w*(Client|Options)|Tx|Conn|Ring|PubSub)\b`)
	inside := []string{"cache/topn", "cache/cachetest", "features/quotas", "internal/devserver", "internal/testenv"}
	found := map[string]bool{}
	for _, file := range goFiles(t) {
		if isTest(file) || strings.HasPrefix(file, "workshop/") || !clients.MatchString(readDoc(t, file)) {
			continue
		}
		found[path.Dir(file)] = true
		if !slices.Contains(inside, path.Dir(file)) {
			t.Errorf("%s names a client of go-redis: take topn.Client or redis.Cmdable", file)
		}
	}
	if len(found) < len(inside) {
		t.Errorf("clients are named in %d folders, %d are listed", len(found), len(inside))
	}
}

// TestLeaksAreLookedFor requires each package that starts goroutines to look, after its tests, for goroutines that are
// left: its TestMain ends in testenv.Main or in leaks.Main (promise F5).
func TestLeaksAreLookedFor(t *testing.T) {
	t.Parallel()
	starts := regexp.MustCompile("(?m)^\\s*go |^[^`\"\n]*\\.Go\\(") // the statement, and the method of a group, outside of texts
	looks := regexp.MustCompile(`testenv\.Main\(|leaks\.(Main|Check)\(`)
	starting, looking := map[string]bool{}, map[string]bool{}
	for _, file := range goFiles(t) {
		text := readDoc(t, file)
		starting[path.Dir(file)] = starting[path.Dir(file)] || !isTest(file) && starts.MatchString(text)
		looking[path.Dir(file)] = looking[path.Dir(file)] || looks.MatchString(text)
	}
	n := 0
	for dir, does := range starting {
		if !does {
			continue
		}
		if n++; !looking[dir] {
			t.Errorf("package %s starts goroutines, and nothing looks for those that its tests leave: give it a TestMain with leaks.Main or testenv.Main", dir)
		}
	}
	if n < 10 {
		t.Errorf("found %d packages that start goroutines, the search is broken", n)
	}
}

// riddle matches kinds of sentences that newcomers read twice: relative clauses without a noun, and words for which there are
// plain ones (reports whether, any caller, refused).
var riddle = regexp.MustCompile(`(?i)\bwho[e]ver\b|\bsays[ ]whether\b|\btold[ ]of\b|\bbar[r]ed\b|\blin[g]ers?\b|` +
	`(?:^(?:// )?|[.:;] |\b(?:of|to|by|for|as|with) )who[ ](?:asks|has|waits|comes|reads|writes|gets)\b`)

// TestPlainEnglish holds comments and documents to sentences with a subject: see riddle.
func TestPlainEnglish(t *testing.T) {
	t.Parallel()
	for _, file := range filesWhere(t, func(name string) bool { return path.Ext(name) == ".go" || path.Ext(name) == ".md" }) {
		for line := range strings.Lines(readDoc(t, file)) {
			if _, comment, _ := strings.Cut(line, "//"); path.Ext(file) == ".go" {
				line = "// " + strings.TrimSpace(comment)
			}
			if found := riddle.FindString(line); found != "" {
				t.Errorf("%s: %q in %q: say it with a subject, verb and object", file, found, strings.TrimSpace(line))
			}
		}
	}
}

// checkFiles fails the test for each fault that wrong finds in files, and if the sum of checked is below least.
func checkFiles(t *testing.T, files []string, wrong func(text string) (found []string, checked int), least int) {
	t.Helper()
	all := 0
	for _, file := range files {
		found, checked := wrong(readDoc(t, file))
		for _, what := range found {
			t.Errorf("%s: %s", file, what)
		}
		all += checked
	}
	if all < least {
		t.Errorf("checked %d, want at least %d: the search is broken", all, least)
	}
}

func isTest(file string) bool { return strings.HasSuffix(file, "_test.go") }

// allGoFiles lists the Go files of all modules, whatever their build constraints say.
func allGoFiles(t *testing.T) []string {
	t.Helper()
	return filesWhere(t, func(name string) bool { return path.Ext(name) == ".go" })
}

// goFiles lists the Go files of the product and of the workshop.
func goFiles(t *testing.T) []string {
	t.Helper()
	modules := filesWhere(t, func(name string) bool {
		return path.Base(name) == "go.mod" && name != "go.mod" && name != "workshop/go.mod"
	})
	return slices.DeleteFunc(allGoFiles(t), func(file string) bool {
		return slices.ContainsFunc(modules, func(mod string) bool { return strings.HasPrefix(file, path.Dir(mod)+"/") })
	})
}

// filesWhere lists the files of all modules whose names are wanted, without fetched and hidden files and data of tests.
func filesWhere(t *testing.T, wanted func(name string) bool) []string {
	t.Helper()
	var files []string
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "testdata" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case !entry.IsDir() && wanted(name):
			files = append(files, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// goFilesIn lists the Go files of a folder that are not tests.
func goFilesIn(dir string) []string {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil // the pattern is a good one
	}
	return slices.DeleteFunc(files, isTest)
}
