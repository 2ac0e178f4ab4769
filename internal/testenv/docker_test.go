package testenv

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// socket listens at a path short enough for a socket.
func socket(t *testing.T) (net.Listener, string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "docker")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "docker.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, "unix://" + path
}

func engine(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/_ping" {
			status = http.StatusNotFound
		}
		w.WriteHeader(status)
	})
}

func TestDockerAnswers(t *testing.T) {
	l, host := socket(t)
	server := &httptest.Server{Listener: l, Config: &http.Server{Handler: engine(http.StatusOK)}}
	server.Start()
	defer server.Close()
	tcp := httptest.NewServer(engine(http.StatusOK))
	defer tcp.Close()
	tls := httptest.NewTLSServer(engine(http.StatusOK))
	defer tls.Close()
	broken := httptest.NewServer(engine(http.StatusInternalServerError))
	defer broken.Close()
	_, hung := socket(t) // connects, and never answers
	for name, tt := range map[string]struct {
		host string
		want bool
	}{
		"socket": {host, true},
		"tcp":    {"tcp://" + tcp.Listener.Addr().String(), true},
		"tls":    {"tcp://" + tls.Listener.Addr().String(), true},
		"broken": {"tcp://" + broken.Listener.Addr().String(), false},
		"hung":   {hung, false},
		"absent": {"unix:///nowhere/docker.sock", false},
		"no URL": {"%", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("DOCKER_HOST", tt.host)
			began := time.Now()
			if got := dockerAnswers(t.Context()); got != tt.want {
				t.Errorf("dockerAnswers = %t, want %t", got, tt.want)
			}
			if took := time.Since(began); took > 10*dockerPingLimit {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestDockerHosts(t *testing.T) {
	t.Setenv("DOCKER_HOST", "")
	t.Setenv("XDG_RUNTIME_DIR", "/run/user/1")
	t.Setenv("HOME", "/home/u")
	got := dockerHosts()
	want := []string{"unix:///var/run/docker.sock", "unix:///run/user/1/docker.sock", "unix:///home/u/.docker/run/docker.sock"}
	if len(got) != len(want) {
		t.Fatalf("hosts %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("host %d: %s, want %s", i, got[i], want[i])
		}
	}
}
