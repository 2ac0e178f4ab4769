package testenv

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"
)

// dockerPingLimit keeps a dead engine from delaying a test run.
const dockerPingLimit = time.Second

// dockerAnswers reports whether a Docker engine answers at DOCKER_HOST or, when
// that is not set, at one of the usual sockets.
func dockerAnswers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, dockerPingLimit)
	defer cancel()
	for _, host := range dockerHosts() {
		if dockerPing(ctx, host) {
			return true
		}
	}
	return false
}

func dockerHosts() []string {
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		return []string{host}
	}
	hosts := []string{"unix:///var/run/docker.sock"}
	if dir := os.Getenv("XDG_RUNTIME_DIR"); dir != "" {
		hosts = append(hosts, "unix://"+filepath.Join(dir, "docker.sock"))
	}
	if dir, err := os.UserHomeDir(); err == nil {
		hosts = append(hosts, "unix://"+filepath.Join(dir, ".docker/run/docker.sock"))
	}
	return hosts
}

// dockerPing asks the engine at host (unix:///path or tcp://host:port) for
// /_ping. An engine behind TLS refuses plain HTTP with an answer: that counts.
func dockerPing(ctx context.Context, host string) bool {
	u, err := url.Parse(host)
	if err != nil {
		return false
	}
	network, address := "tcp", u.Host
	if u.Scheme == "unix" {
		network, address = "unix", u.Path
	}
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://docker/_ping", nil)
	if err != nil {
		return false
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK || (u.Scheme == "tcp" && resp.StatusCode == http.StatusBadRequest)
}
