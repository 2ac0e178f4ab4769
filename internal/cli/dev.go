package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v3"
	"golang.org/x/sync/errgroup"

	"leaderboard/client"
	"leaderboard/httpapi"
	"leaderboard/internal/app"
	"leaderboard/internal/demo"
	"leaderboard/internal/demo/game"
	"leaderboard/internal/devserver"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
	"leaderboard/migrations"
)

const (
	devDatabase = "leaderboard"
	// devStopLimit bounds stopping one private server.
	devStopLimit = 30 * time.Second
)

// devOptions are the options of dev.
type devOptions struct {
	app.Config
	dir     string // of the private servers' data and the admin key
	members int    // of the demo board
	quiet   bool   // no demo player
}

func (p *program) devCommand() *cli.Command {
	o := &devOptions{Config: app.Defaults(), dir: ".leaderboard", members: 5000}
	o.PublicMetrics = true
	return p.leaf("dev", "start private servers and demo boards under ./.leaderboard, and serve", "",
		func(ctx context.Context, _ []string) error { return p.dev(ctx, o) },
		append(p.serverFlags(&o.Config),
			text(p.mainSetting("dir", "folder of the private servers' data and the admin key"), &o.dir),
			whole(p.mainSetting("members", "members of the demo board when it is first made"), &o.members, 1, 10_000_000),
			toggle(p.mainSetting("quiet-demo", "start without the demo player, who submits a score or two a second to the demo boards"), &o.quiet))...)
}

// dev starts private servers, loads demo boards, serves them and a game, and stops all of it when ctx ends. The data are kept.
func (p *program) dev(ctx context.Context, cfg *devOptions) (err error) {
	if err := cmp.Or(needBothFiles(&cfg.Config), needSettings(&cfg.Config)); err != nil {
		return err
	}
	if _, given := p.given["log-level"]; !given {
		cfg.LogLevel = "warn" // the welcome comes last
	}
	listener, err := app.Listen("listen", cfg.Listen) // first, to fail before anything is started when the port is taken
	if err != nil {
		return err
	}
	defer listener.Close()
	if cfg.MySQLDSN == "" {
		if err := claimFolder(cfg.dir); err != nil {
			return err
		}
	}
	servers := &devServers{log: p.say}
	defer func() { err = errors.Join(err, servers.stop()) }()
	if err := servers.start(ctx, cfg); err != nil {
		return err
	}
	madeKey := ""
	if len(cfg.Keys) == 0 {
		if madeKey, err = adminKey(cfg.dir); err != nil {
			return err
		}
		cfg.Keys = []httpapi.SettingsKey{{Scope: leaderboard.ScopeAdmin, Secret: madeKey}}
	}
	visitors, err := startGame(&cfg.Config, listener.Addr().String())
	if err != nil {
		return err
	}
	defer visitors.Close()
	cfg.Header = "Play http://" + visitors.Addr + "/, manual, console"
	log := p.logger(&cfg.Config)
	if err := app.MigrateUntilDone(ctx, cfg.MySQLDSN, log); err != nil {
		return err
	}
	if err := p.loadDemo(ctx, cfg, log); err != nil {
		if ctx.Err() != nil {
			return nil // interrupted, as asked
		}
		return fmt.Errorf("load the demo boards: %w", err)
	}
	if err := p.readTracing(&cfg.Config); err != nil {
		return err
	}
	a, err := app.New(ctx, cfg.Config, log)
	if err != nil {
		return err
	}
	a.UseListener(listener)
	return a.Run(ctx, p.env, servers.exited, func(ctx context.Context) error {
		if !cfg.quiet {
			a.PlayDemo(ctx, cfg.members)
		}
		return p.welcome(a.BaseURL(), "http://"+visitors.Addr, cfg, madeKey)
	})
}

// startGame serves the game of the demo at another address, as another site would: with a key that only the game has, and pages
// that may use the API at addr.
func startGame(cfg *app.Config, addr string) (*http.Server, error) {
	base, key := "http://"+addr+cfg.BasePath, httpapi.SettingsKey{Scope: leaderboard.ScopeWrite, Secret: rand.Text()}
	if cfg.TLSCert != "" {
		base = "https://" + addr + cfg.BasePath
	}
	service, err := client.New(base, client.WithKey(key.Secret))
	if err != nil {
		return nil, err
	}
	listener, err := app.Listen("listen", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("serve the game: %w", err)
	}
	server := httpapi.Server(listener.Addr().String(), game.Backend(service, base, demo.Game))
	cfg.Keys = append(cfg.Keys, key)
	if !slices.Contains(cfg.CORSOrigins, "*") {
		cfg.CORSOrigins = append(cfg.CORSOrigins, "http://"+server.Addr)
	}
	go func() { _ = server.Serve(listener) }() // it ends with Close
	return server, nil
}

// loadDemo makes the demo boards, with a progress bar, unless they are there.
func (p *program) loadDemo(ctx context.Context, cfg *devOptions, log *slog.Logger) error {
	var bar *terminal.Progress
	err := demo.Load(ctx, demo.Options{DSN: cfg.MySQLDSN, Members: cfg.members, Log: log, Progress: func(more int) {
		if bar == nil { // no bar when the boards are there already
			bar = terminal.NewProgress(p.err, int64(cfg.members), "loading the demo boards", progressbar.OptionShowCount())
		}
		bar.Add(int64(more))
	}})
	if bar != nil {
		bar.End()
	}
	return err
}

// devServers are the private servers of dev.
type devServers struct {
	log          func(string, ...any)
	mysql, redis *devserver.Server
	exited       <-chan error // a server that ended without being stopped
}

// start runs both servers, unless their addresses were given, and puts their addresses into cfg.
func (d *devServers) start(ctx context.Context, cfg *devOptions) error {
	given := devserver.Config{Dir: cfg.dir, Log: d.log, MySQL: cfg.MySQLDSN, Redis: cfg.RedisURL}
	var group errgroup.Group
	group.Go(func() (err error) { d.mysql, err = devserver.StartMySQL(ctx, given); return err })
	group.Go(func() (err error) { d.redis, err = devserver.StartRedis(ctx, given); return err })
	if err := group.Wait(); err != nil {
		return err
	}
	cfg.RedisURL = d.redis.URL
	d.watch()
	if cfg.MySQLDSN != "" {
		return nil
	}
	dsn, err := d.mysql.CreateDatabase(ctx, devDatabase)
	cfg.MySQLDSN = dsn
	return err
}

// watch makes d.exited report the first private server that ends without being stopped.
func (d *devServers) watch() {
	exited := make(chan error, 1)
	d.exited = exited
	for _, s := range []*devserver.Server{d.mysql, d.redis} {
		if s.PID == 0 {
			continue // given by its address, not ours
		}
		done := s.Exited()
		go func() {
			<-done
			select {
			case exited <- fmt.Errorf("the %s server has ended, its log is %s", s.Kind, s.LogFile):
			default:
			}
		}()
	}
}

// stop ends the servers in the reverse order of need.
func (d *devServers) stop() error {
	var errs []error
	for _, s := range []*devserver.Server{d.redis, d.mysql} {
		if s == nil {
			continue
		}
		ctx, cancel := context.WithTimeout(context.Background(), devStopLimit)
		errs = append(errs, s.Stop(ctx))
		cancel()
	}
	return errors.Join(errs...)
}

// adminKey returns the admin key that is kept in a folder, and makes it at the first start.
func adminKey(dir string) (string, error) {
	path := filepath.Join(dir, "admin-key")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("folder of the admin key: %w", err)
	}
	content, err := os.ReadFile(path)
	if key := strings.TrimSpace(string(content)); err == nil && app.VisibleASCII(key) {
		return key, nil
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("read the admin key: %w", err)
	}
	key := strings.ToLower(rand.Text())
	if err := os.WriteFile(path, []byte(key+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("keep the admin key: %w", err)
	}
	return key, nil
}

// welcome prints addresses and commands to try. madeKey is the key that dev made itself, "" if keys were given: given keys are not
// shown.
func (p *program) welcome(base, visitors string, cfg *devOptions, madeKey string) error {
	key, shown := madeKey, madeKey
	if madeKey == "" {
		key, shown = "KEY", "as given by LEADERBOARD_KEYS or --keys"
	}
	_, err := fmt.Fprintf(p.out, `
  The leaderboard is up: %[1]s
  Demo board, live:      %[1]s/boards/%[4]s
  A game to play:        %[7]s (its board: %[1]s/boards/%[8]s)
  Console:               %[1]s/console (sign in with the admin key)
  Documentation:         %[1]s/docs
  Admin key:             %[2]s
  Data:                  %[3]s (kept when you stop)

Try:
  curl '%[1]s/v1/boards/%[4]s/top?limit=3'
  curl '%[1]s/v1/boards/%[4]s/members/%[5]s/around?before=2&after=2'
  curl -H 'Authorization: Bearer %[6]s' -H 'Content-Type: application/json' \
    -d '{"entries":[{"member":"you","score":4200}]}' '%[1]s/v1/boards/%[4]s/scores'

Ctrl-C stops all of it.
`, base, shown, cfg.dir, demo.Board, demo.Member(demo.Shown), key, visitors, demo.Game)
	return err
}

// schemaFile is a file next to the data of dev that names the baseline of their schema.
const schemaFile = "schema"

// claimFolder writes schemaFile into the folder of dev before there are data. It fails, and changes nothing, when there are data
// of another schema, or data without a schemaFile, which are older.
func claimFolder(dir string) error {
	path := filepath.Join(dir, schemaFile)
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("read the schema of the data: %w", err)
	}
	if strings.TrimSpace(string(content)) == migrations.Baseline() {
		return nil
	}
	for _, kind := range []devserver.Kind{devserver.KindMySQL, devserver.KindMariaDB} {
		data := filepath.Join(dir, string(kind))
		if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("the data in %s were made with another schema, and before v0.1.1 nothing converts them: "+
				"delete them (rm -r %[1]s), or name another folder with --dir", data)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("folder of the data: %w", err)
	}
	if err := os.WriteFile(path, []byte(migrations.Baseline()+"\n"), 0o644); err != nil {
		return fmt.Errorf("note the schema of the data: %w", err)
	}
	return nil
}
