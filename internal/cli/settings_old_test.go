package cli

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v3"

	"leaderboard/features/events"
	"leaderboard/features/featuretest"
	"leaderboard/features/pages"
	"leaderboard/features/people"
	"leaderboard/features/players"
	"leaderboard/features/quotas"
	"leaderboard/internal/app"
)

// oldSettings returns the settings that end with the next release, each with a value and its effect on a configuration.
func oldSettings(t *testing.T) map[string]struct {
	value string
	makes func(*app.Config)
} {
	type old = struct {
		value string
		makes func(*app.Config)
	}
	folder := t.TempDir()
	picture, err := os.Create(filepath.Join(folder, "a.png"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(png.Encode(picture, image.NewGray(image.Rect(0, 0, 2, 2))), picture.Close()); err != nil {
		t.Fatal(err)
	}
	logo, errLogo := pages.ReadLogo(picture.Name())
	accent, errAccent := pages.ParseAccent("#3151d3")
	if err := errors.Join(errLogo, errAccent); err != nil {
		t.Fatal(err)
	}
	return map[string]old{
		"batch-rows":          {"7", func(c *app.Config) { c.BatchRows = 7 }},
		"write-wait":          {"3s", func(c *app.Config) { c.WriteWait = 3 * time.Second }},
		"key-ttl":             {"2h", func(c *app.Config) { c.KeyTTL = 2 * time.Hour }},
		"audit-profiles":      {"people", func(c *app.Config) { of[people.Settings](c).AuditProfiles = "people" }},
		"fallback-concurrent": {"9", func(c *app.Config) { c.FallbackConcurrent = 9 }},
		"read-wait":           {"5s", func(c *app.Config) { c.ReadWait = 5 * time.Second }},
		"private-issuers":     {"true", func(c *app.Config) { of[players.Settings](c).Private = true }},
		"private-endpoints":   {"true", func(c *app.Config) { of[events.Settings](c).Private = true }},
		"key-requests":        {"1.5", func(c *app.Config) { of[quotas.Settings](c).Keys.Requests = 1.5 }},
		"key-rows":            {"0", func(c *app.Config) { of[quotas.Settings](c).Keys.Rows = 0 }},
		"key-heavy":           {"2", func(c *app.Config) { of[quotas.Settings](c).Keys.Heavy = 2 }},
		"player-requests":     {"3", func(c *app.Config) { of[quotas.Settings](c).Players.Requests = 3 }},
		"player-rows":         {"4", func(c *app.Config) { of[quotas.Settings](c).Players.Rows = 4 }},
		"player-heavy":        {"5", func(c *app.Config) { of[quotas.Settings](c).Players.Heavy = 5 }},
		"address-requests":    {"6", func(c *app.Config) { of[quotas.Settings](c).Addresses.Requests = 6 }},
		"address-heavy":       {"7", func(c *app.Config) { of[quotas.Settings](c).Addresses.Heavy = 7 }},
		"site-title":          {"The arcade", func(c *app.Config) { of[pages.Settings](c).Face.Title = "The arcade" }},
		"site-accent":         {"#3151d3", func(c *app.Config) { of[pages.Settings](c).Face.Accent = accent }},
		"site-logo":           {picture.Name(), func(c *app.Config) { of[pages.Settings](c).Face.Logo = logo }},
		"site-footer":         {"Imprint", func(c *app.Config) { of[pages.Settings](c).Face.Footer = "Imprint" }},
		"site-logos":          {folder, func(c *app.Config) { of[pages.Settings](c).Face.Logos = pages.Logos{"a.png": logo} }},
		"site-language":       {"de", func(c *app.Config) { of[pages.Settings](c).Language = "de" }},
		"picture-font":        {"font.ttf", func(c *app.Config) { of[pages.Settings](c).Font = "font.ttf" }},
	}
}

// of returns the settings of a feature.
func of[T any](c *app.Config) *T { return featuretest.SettingsOf[T](c.Features) }

// TestOldSettings: a setting that goes with the next release has its effect as a flag, as a variable and in a file of settings. It is in no help, no
// manual and no document, and the log of a start has a line about it.
func TestOldSettings(t *testing.T) {
	t.Parallel()
	var shown bytes.Buffer
	if err := writeManual(&shown, (&program{}).root()); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"serve", "dev"} {
		_, out, _ := runWith(t, nil, command, "--help")
		shown.WriteString(out)
	}
	document, err := os.ReadFile(settingsFile)
	if err != nil {
		t.Fatal(err)
	}
	shown.Write(document)
	all := strings.ReplaceAll(shown.String(), `\-`, "-") // as the manual writes a hyphen
	known := map[string]bool{}
	defaults := app.Defaults()
	for _, f := range defaults.Fields() {
		if f.Old {
			known[f.Name] = true
		}
	}
	for name, old := range oldSettings(t) {
		if !known[name] {
			t.Errorf("--%s is no setting that goes", name)
		}
		delete(known, name)
		if at := regexp.MustCompile(`(?m)^.*(--` + name + `|` + variableName(name) + `)\b.*$`).FindString(all); at != "" {
			t.Errorf("--%s is shown: %s", name, at)
		}
		want := app.Defaults()
		old.makes(&want)
		file := filepath.Join(t.TempDir(), "settings.yaml")
		if err := os.WriteFile(file, []byte(name+": '"+old.value+"'\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for place, c := range map[string]struct {
			env  map[string]string
			args []string
		}{
			"--" + name:                       {nil, []string{"--" + name + "=" + old.value}},
			variableName(name):                {map[string]string{variableName(name): old.value}, nil},
			name + " in the file of --config": {nil, []string{"--config", file}},
		} {
			got, log := startWith(t, c.env, c.args...)
			if !same(got, want) {
				t.Errorf("%s: got\n%#v\nwant\n%#v", place, got, want)
			}
			if strings.Count(log, "\n") != 1 || !strings.Contains(log, `level=WARN msg="this setting goes with the next release" setting=`) || !strings.Contains(log, place) {
				t.Errorf("%s: the log is %q", place, log)
			}
		}
	}
	for name := range known {
		t.Errorf("--%s has no test of its effect", name)
	}
	if _, log := startWith(t, nil, "--max-age", "1s"); log != "" {
		t.Errorf("a start without old settings logs %q", log)
	}
}

// TestOldAndNew: a setting must not be given together with its successor.
func TestOldAndNew(t *testing.T) {
	t.Parallel()
	wantUsage(t, map[string]string{"LEADERBOARD_KEY_ROWS": "5"}, "LEADERBOARD_KEY_ROWS and --key-quota: the second takes the place of the first",
		"serve", "--key-quota", "1/2/3")
}

// startWith reads the settings of a server, and returns them with the warnings that a start logs.
func startWith(t *testing.T, env map[string]string, args ...string) (cfg app.Config, log string) {
	t.Helper()
	var errOut bytes.Buffer
	p := &program{stdio: stdio{strings.NewReader(""), &errOut, &errOut}, env: func(name string) string { return env[name] }}
	cfg = app.Defaults()
	root, flags := p.root(), p.serverFlags(&cfg)
	flags = append([]cli.Flag{p.configFlag(func() []string { return settingNames(flags) })}, flags...)
	root.Commands = append(root.Commands, p.leaf("probe", "", "", func(context.Context, []string) error {
		p.logger(&cfg)
		return nil
	}, flags...))
	if err := root.Run(t.Context(), append([]string{"leaderboard", "probe"}, args...)); err != nil {
		t.Errorf("%v with %v: %v", args, env, err)
	}
	return cfg, errOut.String()
}
