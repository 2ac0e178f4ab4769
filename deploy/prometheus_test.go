package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/internal/apptest"
	"leaderboard/internal/devserver"
	"leaderboard/leaderboard"
)

// tool finds a program of Prometheus.
func tool(t *testing.T, name string, args ...string) *exec.Cmd {
	t.Helper()
	found, err := devserver.FindTool(t.Context(), "", "prometheus", name, t.Logf)
	if err != nil {
		t.Fatal(err)
	}
	cmd, err := found.Command(args...)
	if err != nil {
		t.Fatal(err)
	}
	return cmd
}

// TestRules: promtool accepts the rules, and each alert fires when it should and at no other time.
func TestRules(t *testing.T) {
	for _, args := range [][]string{{"check", "rules", "leaderboard.rules.yml"}, {"test", "rules", "leaderboard.test.yml"}} {
		cmd := tool(t, "promtool", args...)
		cmd.Dir = "prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %s\n%s", args, err, out)
		}
	}
}

// runbookBase is the address in the rules whose place yours takes.
const runbookBase = "https://scores.example"

// runbooks returns the addresses that alerts lead to, without their base, by the names of the alerts.
func runbooks(t *testing.T) map[string]string {
	t.Helper()
	rules, err := os.ReadFile("prometheus/leaderboard.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	alerts := regexp.MustCompile(`alert: (\w+)\n`).FindAllStringSubmatch(string(rules), -1)
	if len(alerts) < 10 {
		t.Fatalf("found %d alerts, the search is broken", len(alerts))
	}
	found := map[string]string{}
	for _, part := range strings.Split(string(rules), "alert: ")[1:] {
		name, _, _ := strings.Cut(part, "\n")
		if url := regexp.MustCompile(`runbook_url: ` + runbookBase + `(/\S+)\n`).FindStringSubmatch(part); url != nil {
			found[name] = url[1]
		}
	}
	for _, alert := range alerts {
		if found[alert[1]] == "" {
			t.Errorf("%s has no runbook_url", alert[1])
		}
	}
	return found
}

// TestRunbooks: each alert has a section of docs/alerts.md, which says when it fires, and leads to it on the page of servers.
func TestRunbooks(t *testing.T) {
	doc, err := os.ReadFile("../docs/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	for alert, to := range runbooks(t) {
		if !strings.Contains(string(doc), "\n## "+alert+"\n") {
			t.Errorf("docs/alerts.md has no section %s", alert)
		}
		if want := "/docs/alerts#" + strings.ToLower(alert); to != want {
			t.Errorf("%s leads to %s, want %s", alert, to, want)
		}
	}
	if !strings.Contains(string(doc), runbookBase) {
		t.Errorf("docs/alerts.md does not say what takes the place of %s", runbookBase)
	}
}

// opens checks that each alert leads to a section of a page that a server has.
func opens(t *testing.T, server string) {
	t.Helper()
	for alert, to := range runbooks(t) {
		path, section, _ := strings.Cut(to, "#")
		response, err := http.Get(server + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || section == "" || !strings.Contains(string(body), `id="`+section+`"`) {
			t.Errorf("%s leads to %s: %s, %v", alert, to, response.Status, err)
		}
	}
}

// expressions returns the queries of the dashboard's panels, by their titles, with its variables filled in.
func expressions(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("grafana/leaderboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title, Type string
			Targets     []struct{ RefID, Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	fill := strings.NewReplacer("$__rate_interval", "15s", "$instance", ".*")
	for _, p := range dashboard.Panels {
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %q asks nothing", p.Title)
		}
		for _, target := range p.Targets {
			out[p.Title+" "+target.RefID] = fill.Replace(target.Expr)
		}
	}
	return out
}

// TestDashboard sends all queries of the dashboard and the rules to a real Prometheus, which scrapes a server under load.
// The runbooks of the alerts are on that server.
func TestDashboard(t *testing.T) {
	d, err := apptest.StartDev("..", "--members", "500")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
	})
	opens(t, d.URL)
	address := startPrometheus(t, strings.TrimPrefix(d.URL, "http://"))
	stop := load(t, d)
	defer stop()
	for title, expression := range expressions(t) {
		apptest.Eventually(t, func() string {
			if n, err := answers(t.Context(), address, expression); err != nil || n == 0 {
				return fmt.Sprintf("%s: %d series, %v: %s", title, n, err, expression)
			}
			return ""
		})
	}
}

// startPrometheus runs a Prometheus that scrapes a server every second, with the rules.
func startPrometheus(t *testing.T, server string) (address string) {
	t.Helper()
	dir := t.TempDir()
	rules, err := filepath.Abs("prometheus/leaderboard.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf("global: {scrape_interval: 1s, evaluation_interval: 1s}\nrule_files: [%s]\nscrape_configs:\n- job_name: leaderboard\n  static_configs: [{targets: ['%s']}]\n", rules, server)
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = listener.Addr().String()
	listener.Close()
	cmd := tool(t, "prometheus", "--config.file="+file, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+address, "--log.level=warn")
	said := new(apptest.Buffer)
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			t.Logf("prometheus said:\n%s", said)
		}
	})
	return address
}

// load submits and reads until stop is called: on a busy machine a Prometheus may begin to scrape late, and rates are
// measured from then on.
func load(t *testing.T, d *apptest.Dev) (stop func()) {
	t.Helper()
	c, err := client.New(d.URL, client.WithKey(d.Key))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			member := fmt.Sprintf("m%d", i%200)
			receipt, err := c.Submit(ctx, "demo", []leaderboard.Submission{{Member: member, Score: int64(i)}})
			if err == nil {
				_, err = c.Member(ctx, "demo", member, client.ReadQuery{MinSeq: receipt.Seq})
			}
			if ctx.Err() != nil {
				err = ctx.Err() // also of a repetition that it broke off
			}
			if err != nil {
				ended <- err
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the load ended: %v", err)
		}
	}
}

// answers returns the number of series in a query's answer.
func answers(ctx context.Context, address, query string) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/api/v1/query?query="+url.QueryEscape(query), http.NoBody)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	var out struct {
		Status, Error string
		Data          struct{ Result []json.RawMessage }
	}
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		return 0, err
	}
	if out.Status != "success" {
		return 0, fmt.Errorf("%s: %s", out.Status, out.Error)
	}
	return len(out.Data.Result), nil
}
