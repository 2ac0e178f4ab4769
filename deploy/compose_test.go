package deploy

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"
	"k8s.io/apimachinery/pkg/util/yaml"

	"leaderboard/internal/devserver"
)

// composed is the part of docker-compose.yml that the tests check.
type composed struct {
	Services map[string]struct {
		Image       string
		Command     []string
		Environment map[string]*string // nil: as outside
		Ports       []string
		Profiles    []string
		Networks    map[string]struct{ Aliases []string }
		Configs     []struct{ Source, Target string }
		Healthcheck struct{ Test []string }
	}
	Configs map[string]struct{ Content string }
}

func readCompose(t *testing.T) composed {
	t.Helper()
	text, err := os.ReadFile("../docker-compose.yml")
	if err != nil {
		t.Fatal(err)
	}
	var c composed
	if err := yaml.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestComposeServers: the service starts on the servers of docker-compose.yml: a database account with exactly the rights that it
// needs, and a Redis with a memory limit that evicts nothing.
func TestComposeServers(t *testing.T) {
	c := readCompose(t)
	program, err := os.ReadFile("../internal/mysql/faults.go")
	if err != nil {
		t.Fatal(err)
	}
	wanted := regexp.MustCompile(`"(SELECT, INSERT, UPDATE, DELETE, CREATE[^"]*)"`).FindSubmatch(program)
	if wanted == nil {
		t.Fatal("the program does not say what an account needs")
	}
	account := c.Configs["account"].Content
	if !strings.Contains(account, "GRANT "+string(wanted[1])+" ON leaderboard.* TO 'leaderboard'@'%'") {
		t.Errorf("the account gets other rights than %s:\n%s", wanted[1], account)
	}
	redis := strings.Join(c.Services["redis"].Command, " ")
	if !strings.Contains(redis, "--maxmemory-policy noeviction") || !strings.Contains(redis, "--maxmemory ${LEADERBOARD_REDIS_MEMORY:-256mb}") {
		t.Errorf("Redis is started by %s", redis)
	}
	settings, err := os.ReadFile("../docs/settings.md")
	if err != nil {
		t.Fatal(err)
	}
	tracing := regexp.MustCompile("\\| `(OTEL_\\w+)`").FindAllSubmatch(settings, -1)
	if len(tracing) == 0 {
		t.Error("docs/settings.md has no variable of traces")
	}
	for _, name := range []string{"leaderboard", "another", "grouped"} {
		s := c.Services[name]
		if dsn := *s.Environment["LEADERBOARD_MYSQL_DSN"]; !strings.HasPrefix(dsn, "leaderboard:${LEADERBOARD_MYSQL_PASSWORD:-leaderboard}@") {
			t.Errorf("%s: the account is not the one that was made: %s", name, dsn)
		}
		for _, variable := range tracing {
			if value, passed := s.Environment[string(variable[1])]; !passed || value != nil {
				t.Errorf("%s: %s is not passed on as it is", name, variable[1])
			}
		}
		for variable := range s.Environment {
			if !bytes.Contains(settings, []byte("`"+variable+"`")) {
				t.Errorf("%s: docs/settings.md has no %s", name, variable)
			}
		}
		if want := []string{"CMD", "/usr/local/bin/leaderboard", "health", "--ready"}; !slices.Equal(s.Healthcheck.Test, want) {
			t.Errorf("%s: up --wait waits for %q, want until it serves: %q", name, s.Healthcheck.Test, want)
		}
		if slices.Contains(s.Networks["default"].Aliases, "servers") != (name != "grouped") {
			t.Errorf("%s: the proxy does not find it, or finds a server with another database", name)
		}
	}
}

// TestComposePassword: the DSN that docker-compose.yml gives to the servers works for the account that it makes, with any characters
// in the password.
func TestComposePassword(t *testing.T) {
	const password = `it's a "hard\' one: $HOME/\\@tcp(x)/&?%27` + "`;"
	c := readCompose(t)
	if target := "/docker-entrypoint-initdb.d/account.sh"; c.Services["mysql"].Configs[0].Target != target {
		t.Fatalf("the script is at %s, want %s", c.Services["mysql"].Configs[0].Target, target)
	}
	// As compose and then the image do it. The only command is a client that prints its input and its user.
	script := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", `mysql() { test "$*" = "--protocol=socket --user=root --password=of root" && cat; }`+
		"\n"+strings.ReplaceAll(c.Configs["account"].Content, "$$", "$"))
	script.Env = []string{"PATH=" + os.Getenv("PATH"), "MYSQL_ROOT_PASSWORD=of root", "LEADERBOARD_MYSQL_PASSWORD=" + password}
	statements, err := script.Output()
	if err != nil {
		t.Fatal(err)
	}
	server, err := devserver.StartMySQL(t.Context(), devserver.Config{Dir: t.TempDir(), Log: t.Logf, Ephemeral: true, Fast: true, MySQLOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	dsn, err := server.CreateDatabase(t.Context(), "leaderboard")
	if err != nil {
		t.Fatal(err)
	}
	execute(t, dsn+"?multiStatements=true", string(statements))
	root, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	text := *c.Services["leaderboard"].Environment["LEADERBOARD_MYSQL_DSN"]
	text = strings.Replace(text, "${LEADERBOARD_MYSQL_PASSWORD:-leaderboard}", password, 1)
	text = strings.Replace(text, "(mysql:3306)", "("+root.Addr+")", 1)
	execute(t, text, "CREATE TABLE leaderboard.t (id INT PRIMARY KEY)")
}

func execute(t *testing.T, dsn, statements string) {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatalf("%s: %s", statements, err)
	}
}

// TestComposePorts: no port is reachable from other machines, a service that may run several times has no host port, and services
// that are not always started belong to the fleet.
func TestComposePorts(t *testing.T) {
	for name, s := range readCompose(t).Services {
		for _, port := range s.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s is reached at %s", name, port)
			}
		}
		fleet := slices.Equal(s.Profiles, []string{"fleet"})
		if want := name == "another" || name == "proxy"; fleet != want || name == "another" && len(s.Ports) > 0 {
			t.Errorf("%s: profiles %v, ports %v", name, s.Profiles, s.Ports)
		}
		if s.Image == "" {
			t.Errorf("%s has no image", name)
		}
	}
	text, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(`CMD ["/usr/local/bin/leaderboard", "health"]`)) { // which asks /livez, --ready would ask /readyz
		t.Error("the image's health is not /livez")
	}
}

// TestComposeGroup: members of the group have the settings of docs/failover.md, except settings that differ on one machine of
// containers, and the service names all of them.
func TestComposeGroup(t *testing.T) {
	c := readCompose(t)
	page, err := os.ReadFile("../docs/failover.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "[mysqld]\n")
	block, _, _ = strings.Cut(block, "```")
	of := func(text string) map[string]string {
		settings := map[string]string{}
		for line := range strings.Lines(text) {
			if name, value, ok := strings.Cut(strings.TrimSpace(line), " = "); ok {
				settings[strings.TrimPrefix(name, "loose_")] = value
			}
		}
		return settings
	}
	want, got := of(block), of(c.Configs["member"].Content)
	for _, own := range []string{"server_id", "report_host", "group_replication_local_address"} {
		delete(want, own) // in the command of each
	}
	delete(want, "super_read_only") // set when the accounts are made
	delete(want, "plugin_load_add") // twice: of clone, which is not needed to begin empty
	delete(got, "plugin_load_add")
	want["group_replication_group_seeds"] = strings.TrimSuffix(want["group_replication_group_seeds"], ",db4:33061")
	if len(want) < 7 || !maps.Equal(got, want) {
		t.Errorf("members have %v, want %v", got, want)
	}
	dsn := *c.Services["grouped"].Environment["LEADERBOARD_MYSQL_DSN"]
	for i := range 3 {
		name := fmt.Sprintf("db%d", i+1)
		command := strings.Join(c.Services[name].Command, " ")
		for _, option := range []string{fmt.Sprintf("--server-id=%d", i+1), "--report-host=" + name, "local-address=" + name + ":33061"} {
			if !strings.Contains(command, option) {
				t.Errorf("%s is started with %s, not with %s", name, command, option)
			}
		}
		if !strings.Contains(dsn, name+":3306") {
			t.Errorf("the service does not name %s: %s", name, dsn)
		}
	}
}
