package cli

import (
	"crypto/tls"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leaderboard/internal/apptest"
)

// TestPrivateCertificates: commands trust the authority of --ca-file, and name the flag when a server has an unknown one.
// health asks a server of this machine without verifying its certificate.
func TestPrivateCertificates(t *testing.T) {
	ca, dir := apptest.NewCA(t), t.TempDir()
	cert, key := ca.Issue(t, 1)
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/livez" {
			_, _ = w.Write([]byte(`{"status":"ok"}`))
			return
		}
		_, _ = w.Write([]byte(`{"boards":[]}`))
	}))
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	files := map[string]string{}
	for name, content := range map[string][]byte{"ca": ca.PEM, "other": apptest.NewCA(t).PEM, "key": key} {
		files[name] = filepath.Join(dir, name)
		if err := os.WriteFile(files[name], content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list := []string{"board", "list", "--json", "--url", s.URL}
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		exit int
		want string
	}{
		"trusted":               {append(list, "--ca-file", files["ca"]), nil, exitOK, ""},
		"trusted by a variable": {list, map[string]string{"LEADERBOARD_CA_FILE": files["ca"]}, exitOK, ""},
		"not trusted":           {list, nil, exitFailed, "--ca-file"},
		"another is trusted":    {append(list, "--ca-file", files["other"]), nil, exitFailed, "--ca-file"},
		"no certificates":       {append(list, "--ca-file", files["key"]), nil, exitUsage, "want a file of certificates"},
		"no file":               {append(list, "--ca-file", dir+"/none"), nil, exitUsage, "no such file"},
		"health":                {[]string{"health", "--listen", s.Listener.Addr().String(), "--tls-cert", files["other"]}, nil, exitOK, "ok"},
		"health without TLS":    {[]string{"health", "--listen", s.Listener.Addr().String()}, nil, exitFailed, "no leaderboard server"},
		"one file":              {[]string{"serve", "--mysql-dsn", "root@tcp(127.0.0.1:1)/none", "--tls-cert", files["ca"]}, nil, exitUsage, "go together"},
	} {
		t.Run(name, func(t *testing.T) {
			status, out, errOut := runWith(t, c.env, c.args...)
			if status != c.exit || !strings.Contains(out+errOut, c.want) {
				t.Errorf("status %d, %q, %q", status, out, errOut)
			}
		})
	}
}
