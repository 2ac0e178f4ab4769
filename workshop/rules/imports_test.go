package rules

import (
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// importRule says what a package may import in addition to the standard library. All rows are the import table. Adapters (store, cache,
// refresher, httpapi) never import each other, except refresher the tables and the feed of cache; features import only the engine:
// internal/app wires them, and interfaces sit with their users.
type importRule struct {
	dir    string   // folder of the package
	may    []string // import paths; a path that ends in /... allows packages below it too
	any    bool     // may import everything
	inTest []string // additional imports that only the package's tests may have
}

const (
	module   = "leaderboard"
	nounsPkg = "leaderboard/leaderboard"
	rankPkg  = "leaderboard/rank"
	redisPkg = "github.com/redis/go-redis/v9/..."
	tracePkg = "leaderboard/internal/trace"
	turnPkg  = "leaderboard/internal/turn"
	guardPkg = "leaderboard/internal/guard"
	wirePkg  = "leaderboard/internal/wire"

	mysqlPkg    = "leaderboard/internal/mysql"
	auditPkg    = "leaderboard/internal/audit"
	outboxPkg   = "leaderboard/internal/outbox"
	entriesPkg  = "leaderboard/internal/entries"
	oidcPkg     = "leaderboard/internal/oidc"
	storeIndex  = "leaderboard/store/internal/index"
	boardsPkg   = "leaderboard/internal/boards"
	storeCommit = "leaderboard/store/commit"
	sqlxPkg     = "github.com/jmoiron/sqlx"
	plansPkg    = "leaderboard/internal/plantest"
)

func importRules() []importRule {
	return slices.Concat(programRules(), featureRules(), []importRule{
		{dir: "leaderboard"},
		{dir: "rank", may: []string{nounsPkg, "leaderboard/internal/fenwick"}},
		{
			dir: "migrations", may: []string{"github.com/pressly/goose/v3/...", "github.com/go-sql-driver/mysql"},
			inTest: []string{"github.com/go-sql-driver/mysql"},
		},
		{
			dir: "store", may: []string{
				"leaderboard/internal/serverfault", nounsPkg, rankPkg, "leaderboard/migrations", mysqlPkg, auditPkg, entriesPkg, storeIndex, "leaderboard/store/internal/read", boardsPkg, storeCommit,
				"leaderboard/store/internal/sweep", outboxPkg, sqlxPkg,
			},
			inTest: []string{"leaderboard/internal/app/installed", "leaderboard/features/featuretest", plansPkg, turnPkg, "github.com/go-sql-driver/mysql"}, // a proxy between the store and its server
		},
		{dir: "internal/mysql", may: []string{"leaderboard/internal/serverfault", nounsPkg, sqlxPkg, "github.com/go-sql-driver/mysql"}},
		{dir: "internal/audit", may: []string{nounsPkg, mysqlPkg}, inTest: []string{plansPkg}},
		{dir: "internal/entries", may: []string{nounsPkg, rankPkg, mysqlPkg, sqlxPkg}, inTest: []string{plansPkg}},
		{dir: "store/internal/index", may: []string{nounsPkg, rankPkg, mysqlPkg, entriesPkg, sqlxPkg}},
		{
			dir: "store/internal/read", may: []string{nounsPkg, rankPkg, mysqlPkg, entriesPkg, storeIndex, turnPkg},
			inTest: []string{plansPkg, "leaderboard/migrations", "leaderboard/store", "github.com/go-sql-driver/mysql"}, // a store that writes meanwhile
		},
		{dir: "internal/outbox", may: []string{nounsPkg, rankPkg, mysqlPkg, entriesPkg, sqlxPkg}, inTest: []string{plansPkg}},
		{dir: "internal/boards", may: []string{nounsPkg, "leaderboard/internal/bounded", mysqlPkg, outboxPkg, sqlxPkg, "github.com/go-json-experiment/json"}},
		{dir: "store/commit", may: []string{nounsPkg, rankPkg, mysqlPkg, auditPkg, entriesPkg, boardsPkg, outboxPkg, tracePkg, "leaderboard/internal/varint", sqlxPkg}, inTest: []string{plansPkg}},
		{dir: "store/internal/sweep", may: []string{nounsPkg, mysqlPkg, entriesPkg, sqlxPkg}, inTest: []string{plansPkg}},
		{dir: "internal/plantest", may: []string{"leaderboard/internal/testenv", "leaderboard/migrations", mysqlPkg}},
		{dir: "store/storetest/dbtest", may: []string{nounsPkg, "leaderboard/store", "leaderboard/migrations", "leaderboard/internal/testenv", "github.com/go-sql-driver/mysql"}},
		{dir: "store/storetest", may: []string{nounsPkg, rankPkg, "leaderboard/store", "pgregory.net/rapid"}},
		{
			dir:    "cache",
			may:    []string{nounsPkg, rankPkg, "leaderboard/cache/batch", "leaderboard/cache/topn", "leaderboard/cache/feed", "leaderboard/cache/resident", "leaderboard/internal/bounded", tracePkg, "golang.org/x/sync/..."},
			inTest: []string{"leaderboard/cache/cachetest", "leaderboard/store", redisPkg},
		},
		{
			dir: "cache/topn", may: []string{"leaderboard/internal/serverfault", nounsPkg, rankPkg, "leaderboard/cache/feed", redisPkg, "golang.org/x/sync/..."},
			inTest: []string{"leaderboard/cache/cachetest"},
		},
		{dir: "cache/batch", may: []string{nounsPkg, turnPkg}},
		{dir: "internal/oidc", may: []string{"leaderboard/api", nounsPkg, "leaderboard/internal/dialer", "github.com/golang-jwt/jwt/v5", "github.com/MicahParks/jwkset"}},
		{dir: "cache/feed", may: []string{nounsPkg}, inTest: []string{"leaderboard/cache/cachetest"}},
		{dir: "cache/resident", may: []string{nounsPkg, rankPkg, "leaderboard/cache/feed", "leaderboard/internal/fenwick"}, inTest: []string{"leaderboard/store"}},
		{dir: "cache/cachetest", may: []string{nounsPkg, rankPkg, redisPkg}},
		{
			dir: "refresher", may: []string{nounsPkg, tracePkg, "leaderboard/cache", "leaderboard/cache/feed", "github.com/robfig/cron/v3", "golang.org/x/sync/..."},
			inTest: []string{"leaderboard/cache/topn", "leaderboard/cache/cachetest"}, // its lease and its copies across processes, on a real Redis
		},
		{
			dir:    "httpapi",
			may:    []string{"leaderboard/api", nounsPkg, guardPkg, wirePkg, tracePkg, "golang.org/x/sync/errgroup", "github.com/klauspost/compress/gzip", "github.com/go-json-experiment/json/...", "github.com/rs/cors"},
			inTest: []string{rankPkg, "leaderboard/httpapi/apitest", "go.yaml.in/yaml/v3", "golang.org/x/sys/unix"}, // the document, and the count of TCP segments
		},
		{
			dir: "internal/wire", may: []string{"leaderboard/api", nounsPkg, "leaderboard/internal/numbers", "github.com/klauspost/compress/gzip", "github.com/go-json-experiment/json/..."},
			inTest: []string{rankPkg}, // cursors continue after its keys
		},
		{dir: "internal/guard", may: []string{"leaderboard/api", nounsPkg, wirePkg, "leaderboard/internal/bounded"}},
		{dir: "docs"},
		{dir: "httpapi/apitest", may: []string{
			"leaderboard/api", nounsPkg, guardPkg, wirePkg, "github.com/go-json-experiment/json/...", "leaderboard/store/storetest", "leaderboard/internal/apidoc", "github.com/getkin/kin-openapi/...", "github.com/santhosh-tekuri/jsonschema/v6",
		}},
		{dir: "internal/apidoc", may: []string{"go.yaml.in/yaml/v3"}},
		{dir: "api", may: []string{nounsPkg}},
		{dir: "client", may: []string{"leaderboard/api", nounsPkg}, inTest: []string{"leaderboard/internal/apptest"}},
	})
}

// featureRules are the rows of the features, and of the packages that define a feature. Features stand on the engine, and
// none imports another.
func featureRules() []importRule {
	const prometheus = "github.com/prometheus/client_golang/prometheus"
	rules := []importRule{{dir: "features", may: []string{nounsPkg, mysqlPkg, "leaderboard/cache/feed", "leaderboard/httpapi", "leaderboard/store", storeCommit, prometheus, redisPkg}}}
	folders, err := os.ReadDir("features")
	if err != nil {
		panic(err)
	}
	for _, f := range folders {
		if !f.IsDir() || f.Name() == "featuretest" {
			continue
		}
		rules = append(rules, importRule{
			dir: "features/" + f.Name(), may: []string{
				"leaderboard/api", "leaderboard/features", "leaderboard/httpapi", "leaderboard/store", storeCommit, nounsPkg, rankPkg, mysqlPkg, entriesPkg, boardsPkg, auditPkg, outboxPkg, guardPkg, wirePkg,
				"leaderboard/cache", "leaderboard/cache/feed", "leaderboard/internal/bounded", "leaderboard/internal/csvcell", "leaderboard/internal/names", oidcPkg, "leaderboard/internal/settings", "leaderboard/internal/dialer", "leaderboard/internal/varint", tracePkg, "leaderboard/docs", "golang.org/x/sync/...", "github.com/golang-jwt/jwt/v5", "golang.org/x/oauth2", "golang.org/x/image/...", "golang.org/x/text/...", "github.com/klauspost/compress/gzip", "github.com/yuin/goldmark/...", sqlxPkg, redisPkg, prometheus, "github.com/go-json-experiment/json/...",
			},
			inTest: []string{path.Join("leaderboard/features", f.Name(), f.Name()+"test"), plansPkg, "leaderboard/migrations", "leaderboard/httpapi/apitest", "leaderboard/features/featuretest", "leaderboard/cache/cachetest", "leaderboard/internal/apidoc", "go.yaml.in/yaml/v3", "github.com/go-sql-driver/mysql"}, // a Redis Cluster that it plays
		})
	}
	return append(rules, importRule{
		dir: "features/people/peopletest", may: []string{"leaderboard/features/people", nounsPkg, "leaderboard/store/storetest", "leaderboard/internal/names", "pgregory.net/rapid"},
	}, importRule{
		dir: "features/featuretest", may: []string{"leaderboard/features", "leaderboard/httpapi", "leaderboard/httpapi/apitest", "leaderboard/store", "leaderboard/store/storetest/dbtest"}, inTest: []string{"leaderboard/api"},
	})
}

// programRules are the rows of wiring, commands, tools and tests.
func programRules() []importRule {
	return []importRule{
		{dir: "internal/app", any: true},
		{dir: "internal/app/installed", any: true},
		{dir: "internal/apptest", may: []string{"leaderboard/internal/child"}},
		{dir: "internal/child"},
		{dir: "internal/serverfault"},
		{dir: "internal/settings", may: []string{nounsPkg}},
		{dir: "internal/csvcell"},
		{dir: "internal/varint"},
		{dir: "internal/demo", may: []string{nounsPkg, "leaderboard/features", "leaderboard/store", "leaderboard/internal/app/installed", "golang.org/x/sync/..."}, inTest: []string{"leaderboard/migrations"}},
		{dir: "internal/demo/game", may: []string{"leaderboard/client"}},
		{dir: "internal/trace"},
		{dir: "internal/turn"},
		{
			dir: "internal/telemetry", may: []string{
				nounsPkg, tracePkg, "github.com/go-sql-driver/mysql", "go.opentelemetry.io/otel/...", "go.opentelemetry.io/proto/otlp/trace/v1", "google.golang.org/protobuf/proto",
			},
			inTest: []string{"leaderboard/internal/apptest"},
		},
		{dir: "internal/bounded"},
		{dir: "internal/names", may: []string{"golang.org/x/text/unicode/norm"}},
		{dir: "internal/dialer"},
		{dir: "internal/fenwick", inTest: []string{"pgregory.net/rapid"}},
		{dir: "internal/terminal", may: []string{"github.com/go-json-experiment/json/...", "github.com/rivo/uniseg", "github.com/schollz/progressbar/v3", "golang.org/x/term"}},
		{dir: "internal/numbers", may: []string{nounsPkg, "github.com/go-json-experiment/json/..."}},
		{dir: "internal/transfer", may: []string{
			"leaderboard/internal/csvcell", nounsPkg, "leaderboard/client", "leaderboard/internal/numbers", "leaderboard/internal/terminal", "github.com/go-json-experiment/json/...", "github.com/schollz/progressbar/v3",
		}},
		{dir: "internal/devserver", may: []string{"leaderboard/internal/child", "github.com/go-sql-driver/mysql", "github.com/redis/go-redis/v9"}},
		{dir: "internal/leaks", may: []string{"go.uber.org/goleak"}},
		{dir: "internal/testenv", may: []string{
			"leaderboard/internal/devserver", "leaderboard/internal/leaks", "github.com/go-sql-driver/mysql", "github.com/redis/go-redis/v9",
			"github.com/testcontainers/testcontainers-go/...",
		}},
		{dir: "internal/testenv/run", may: []string{"leaderboard/internal/testenv", "leaderboard/internal/devserver"}},
		{
			dir: "internal/cli", may: []string{
				nounsPkg, "leaderboard/api", "leaderboard/client", "leaderboard/httpapi", "leaderboard/cache/topn", "leaderboard/refresher", "leaderboard/store",
				"leaderboard/migrations", "leaderboard/internal/app", "leaderboard/internal/settings", "leaderboard/internal/demo", "leaderboard/internal/demo/game", "leaderboard/internal/devserver",
				"leaderboard/internal/terminal", "leaderboard/internal/transfer", "github.com/urfave/cli/v3", "github.com/go-sql-driver/mysql", redisPkg,
				"github.com/schollz/progressbar/v3", "golang.org/x/sync/...", "go.yaml.in/yaml/v3", // files of contexts and settings
			},
			inTest: []string{"leaderboard/internal/apptest", "leaderboard/features/..."}, // whose settings are in the command line
		},
		{dir: "cmd/leaderboard", may: []string{"leaderboard/internal/cli"}},
		{dir: "workshop", any: true}, // a separate module, restricted by its go.mod too, like the rest
		{dir: "deploy", any: true},
		{dir: "examples/sqlite", any: true},
		{dir: "examples/webhooks", any: true},
	}
}

// testMay returns the imports that the tests of every package may have.
func testMay() []string {
	return []string{
		"pgregory.net/rapid", "leaderboard/internal/testenv", "leaderboard/internal/devserver", "leaderboard/internal/leaks", "leaderboard/store/storetest", "leaderboard/store/storetest/dbtest",
		"github.com/getkin/kin-openapi/...", "github.com/rogpeppe/go-internal/testscript",
	}
}

// TestImports holds every package to the import table.
func TestImports(t *testing.T) {
	rules := map[string]importRule{}
	for _, r := range importRules() {
		rules[r.dir] = r
	}
	files := goFiles(t)
	if len(files) < 20 {
		t.Fatalf("found %d Go files, the walk is broken", len(files))
	}
	for _, file := range files {
		dir := path.Dir(file)
		if strings.HasPrefix(dir, "workshop/") {
			dir = "workshop"
		}
		rule, ok := rules[dir]
		if !ok {
			t.Errorf("%s: package %s has no row in the import table, which is imports_test.go", file, path.Dir(file))
			continue
		}
		for _, imported := range importsOf(t, file) {
			if !rule.allows(imported, strings.HasSuffix(file, "_test.go")) {
				t.Errorf("%s imports %s, which the import table does not allow", file, imported)
			}
		}
	}
}

func (r importRule) allows(imported string, test bool) bool {
	first, _, _ := strings.Cut(imported, "/")
	standard := !strings.Contains(first, ".") && first != module
	if r.any || standard {
		return true
	}
	may := r.may
	if test {
		own := path.Join(module, r.dir) // an external test package imports its subject
		may = slices.Concat(may, r.inTest, testMay(), []string{own, nounsPkg})
	}
	return slices.ContainsFunc(may, func(allowed string) bool {
		parent, tree := strings.CutSuffix(allowed, "/...")
		return imported == parent || (tree && strings.HasPrefix(imported, parent+"/"))
	})
}

// TestImportRules shows that the table can say no.
func TestImportRules(t *testing.T) {
	rule := importRule{dir: "cache", may: []string{nounsPkg, "golang.org/x/sync/..."}}
	for imported, want := range map[string]bool{
		"fmt": true, "encoding/json": true, nounsPkg: true, "golang.org/x/sync/errgroup": true,
		"golang.org/x/syncer": false, "leaderboard/store": false, "github.com/jmoiron/sqlx": false, "pgregory.net/rapid": false,
	} {
		if got := rule.allows(imported, false); got != want {
			t.Errorf("cache importing %s: allowed %t, want %t", imported, got, want)
		}
	}
	if !rule.allows("pgregory.net/rapid", true) || rule.allows("leaderboard/store", true) {
		t.Error("tests may import rapid and may not import another adapter")
	}
}

func importsOf(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	imports := map[string]bool{}
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		imports[name] = true
	}
	return slices.Sorted(maps.Keys(imports))
}
