package devserver

import (
	"errors"
	"strings"
	"testing"
)

// TestGivenServers: a given server is used, never started, stopped or signalled.
func TestGivenServers(t *testing.T) {
	my := mustStart(t, StartMySQL, testConfig(t))
	red := mustStart(t, StartRedis, testConfig(t))
	for _, tt := range []struct {
		name  string
		start startFunc
		cfg   Config
		want  *Server
	}{
		{"mysql", StartMySQL, Config{MySQL: my.DSN}, &Server{Kind: KindMySQL, DSN: my.DSN, Addr: my.Addr}},
		{"mysql with database", StartMySQL, Config{MySQL: my.DSN + "mysql"}, &Server{Kind: KindMySQL, DSN: my.DSN + "mysql", Addr: my.Addr}},
		{"redis", StartRedis, Config{Redis: red.URL}, &Server{Kind: KindRedis, URL: red.URL, Addr: red.Addr}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := tt.start(t.Context(), tt.cfg)
			if err != nil {
				t.Fatal(err)
			}
			if s.Kind != tt.want.Kind || s.DSN != tt.want.DSN || s.URL != tt.want.URL || s.Addr != tt.want.Addr || s.PID != 0 {
				t.Errorf("got %s %q %q %s pid %d", s.Kind, s.DSN, s.URL, s.Addr, s.PID)
			}
			for name, do := range map[string]func() error{"Kill": s.Kill, "Pause": s.Pause, "Resume": s.Resume} {
				if err := do(); !errors.Is(err, errGiven) {
					t.Errorf("%s: %v, want %v", name, err, errGiven)
				}
			}
			if err := s.Stop(t.Context()); err != nil {
				t.Errorf("Stop: %s", err)
			}
		})
	}
	if _, err := redisInfo(t.Context(), red.Addr, nil); err != nil {
		t.Errorf("Stop of a given server stopped it: %s", err)
	}
}

// TestGivenServersThatDoNotAnswer: an address that does not work is an error at once, which shows no password.
func TestGivenServersThatDoNotAnswer(t *testing.T) {
	for _, tt := range []struct {
		name  string
		start startFunc
		cfg   Config
	}{
		{"no server there, mysql", StartMySQL, Config{MySQL: "root:s3cret@tcp(127.0.0.1:1)/"}},
		{"no server there, redis", StartRedis, Config{Redis: "redis://:s3cret@127.0.0.1:1/0"}},
		{"not a DSN", StartMariaDB, Config{MySQL: "mysql://root:s3cret@127.0.0.1/"}},
		{"not a URL", StartRedis, Config{Redis: "redis://u:s3cret@[::1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := tt.start(t.Context(), tt.cfg)
			if err == nil {
				t.Fatalf("got %+v", s)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the error shows the password: %s", err)
			}
		})
	}
}
