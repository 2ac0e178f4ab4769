package app

import (
	"context"
	"net/http"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"

	"leaderboard/features/featuretest"
	"leaderboard/features/signin"
	"leaderboard/httpapi"
	"leaderboard/internal/apptest"
	"leaderboard/internal/testenv"
	"leaderboard/leaderboard"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silence{}) // as the program does
	os.Exit(testenv.Main(m))
}

// silence is a logger that drops all lines.
type silence struct{}

// Printf drops a line.
func (silence) Printf(context.Context, string, ...any) {}

// testApp is an app that runs in this process.
type testApp struct {
	*App
	*apptest.Server
	log     *apptest.Buffer
	stopped bool
}

// startApp starts an app on a free port. change changes the default settings.
func startApp(t *testing.T, dsn, redisURL string, change ...func(*Config)) *testApp {
	t.Helper()
	cfg := Defaults()
	cfg.MySQLDSN, cfg.RedisURL, cfg.Listen, cfg.Migrate, cfg.LogLevel = dsn, redisURL, "127.0.0.1:0", true, "debug"
	cfg.PublicMetrics = true
	cfg.Keys = []httpapi.SettingsKey{{Scope: leaderboard.ScopeAdmin, Secret: apptest.AdminKey}, {Scope: leaderboard.ScopeWrite, Secret: apptest.WriteKey}}
	if redisURL != "" {
		cfg.RedisURL += "?read_timeout=1m&write_timeout=1m&pool_timeout=1m" // no test here is about a slow one
	}
	cfg.readerWait, cfg.ReadWait = apptest.MaxWait, apptest.MaxWait
	listener, err := Listen("listen", cfg.Listen) // first, so that settings may name the address
	if err != nil {
		t.Fatal(err)
	}
	signInOf(&cfg).PublicURL = "http://" + listener.Addr().String()
	for _, c := range change {
		c(&cfg)
	}
	a := &testApp{log: &apptest.Buffer{}}
	if a.App, err = New(t.Context(), cfg, NewLogger(a.log, &cfg)); err != nil {
		t.Fatal(err)
	}
	a.UseListener(listener)
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.Server = &apptest.Server{T: t, URL: "http://" + a.Addr()}
	t.Cleanup(func() {
		a.stop()
		if t.Failed() {
			t.Log("the app's log: " + apptest.Brief(a.log.String()))
		}
	})
	return a
}

// signInOf returns the settings of how people sign in.
func signInOf(cfg *Config) *signin.Settings {
	return featuretest.SettingsOf[signin.Settings](cfg.Features)
}

// startReady is startApp, and waits until the app is ready.
func startReady(t *testing.T, dsn, redisURL string, change ...func(*Config)) *testApp {
	t.Helper()
	a := startApp(t, dsn, redisURL, change...)
	a.Await("/readyz", http.StatusOK)
	return a
}

func (a *testApp) stop() {
	a.T.Helper()
	if a.stopped {
		return
	}
	a.stopped = true
	ctx, cancel := context.WithTimeout(context.Background(), apptest.MaxWait)
	defer cancel()
	if err := a.Stop(ctx); err != nil {
		a.T.Errorf("stop: %s", err)
	}
}

// onDatabases runs a test with a database of MySQL and with one of MariaDB, both at once.
func onDatabases(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Helper()
	t.Parallel()
	for name, dsn := range map[string]func(testing.TB) string{"mysql": testenv.MySQL, "mariadb": testenv.MariaDB} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, dsn(t))
		})
	}
}
