package app

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"leaderboard/internal/apptest"
)

// certFiles are the files of a certificate, through a link to a folder as container platforms mount them.
type certFiles struct {
	t         *testing.T
	ca        *apptest.CA
	dir       string
	cert, key string
	made      int
}

func newCertFiles(t *testing.T) *certFiles {
	f := &certFiles{t: t, ca: apptest.NewCA(t), dir: t.TempDir()}
	f.cert, f.key = filepath.Join(f.dir, "current", "tls.crt"), filepath.Join(f.dir, "current", "tls.key")
	return f
}

func (f *certFiles) write(file string, content []byte) {
	f.t.Helper()
	if err := os.WriteFile(file, content, 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f *certFiles) rename(from, to string) {
	f.t.Helper()
	if err := os.Rename(from, to); err != nil {
		f.t.Fatal(err)
	}
}

// link puts a pair into a new folder and makes it the current one by renaming a link.
func (f *certFiles) link(cert, key []byte) {
	f.t.Helper()
	f.made++
	folder, link := filepath.Join(f.dir, fmt.Sprint(f.made)), filepath.Join(f.dir, "next")
	if err := os.Mkdir(folder, 0o700); err != nil {
		f.t.Fatal(err)
	}
	f.write(filepath.Join(folder, "tls.crt"), cert)
	f.write(filepath.Join(folder, "tls.key"), key)
	if err := os.Symlink(folder, link); err != nil {
		f.t.Fatal(err)
	}
	f.rename(link, filepath.Join(f.dir, "current"))
}

// serial makes a connection that trusts the CA, and returns the serial number of the certificate that is served.
func serial(t *testing.T, ca *apptest.CA, addr string) int64 {
	t.Helper()
	conn, err := tls.Dial("tcp", addr, &tls.Config{RootCAs: ca.Pool(), NextProtos: []string{"h2", "http/1.1"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	state := conn.ConnectionState()
	if state.NegotiatedProtocol != "http/1.1" {
		t.Errorf("the protocol is %q", state.NegotiatedProtocol)
	}
	return state.PeerCertificates[0].SerialNumber.Int64()
}

// TestTLS: the API is served with the certificate in two files, and soon with the next one, whether a link, the files or their
// content is replaced. A certificate and a key that do not fit together are not served, and are logged once.
func TestTLS(t *testing.T) {
	t.Parallel()
	f := newCertFiles(t)
	f.link(f.ca.Issue(t, 11))
	a := startApp(t, "user@tcp(127.0.0.1:1)/none", "", func(c *Config) { c.TLSCert, c.TLSKey, c.OpsListen = f.cert, f.key, "127.0.0.1:0" })
	https := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: f.ca.Pool()}, ForceAttemptHTTP2: true}}
	defer https.CloseIdleConnections()
	get := func(url string) (int, string) {
		t.Helper()
		res, err := https.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body)
	}
	if status, body := get(a.BaseURL() + "/livez"); status != 200 || !strings.HasPrefix(a.BaseURL(), "https://") {
		t.Errorf("%s: %d %s", a.BaseURL(), status, body)
	}
	if status, body := get("http://" + a.Addr() + "/livez"); status != 400 {
		t.Errorf("without TLS: %d %s", status, body)
	}
	served := func(want int64) {
		t.Helper()
		apptest.Eventually(t, func() string {
			if got := serial(t, f.ca, a.Addr()); got != want {
				return fmt.Sprintf("certificate %d is served, want %d", got, want)
			}
			return ""
		})
	}
	served(11)
	f.link(f.ca.Issue(t, 12))
	served(12)
	cert, key := f.ca.Issue(t, 13)
	f.write(f.key, key) // the key of a certificate that is not there yet
	apptest.Eventually(t, func() string {
		if !strings.Contains(a.log.String(), "files are not good") {
			return "the log does not say that the files do not fit together"
		}
		return ""
	})
	served(12)
	next := filepath.Join(f.dir, "next.crt")
	f.write(next, cert)
	f.rename(next, f.cert)
	served(13)
	if n := strings.Count(a.log.String(), "files are not good"); n != 1 {
		t.Errorf("what is wrong is said %d times", n)
	}
	if log := a.log.String(); strings.Contains(log, "PRIVATE KEY") {
		t.Error("the key is in the log")
	}
}

// TestBadCertificate: a bad certificate or key at the start is an error, and nothing is served.
func TestBadCertificate(t *testing.T) {
	t.Parallel()
	f := newCertFiles(t)
	cert, _ := f.ca.Issue(t, 1)
	_, key := f.ca.Issue(t, 2)
	f.link(cert, key)
	for _, files := range [][2]string{{f.cert, f.key}, {f.cert, f.cert}, {f.cert + "x", f.key}, {f.cert, f.dir}} {
		cfg := Defaults()
		cfg.MySQLDSN, cfg.TLSCert, cfg.TLSKey = "user@tcp(127.0.0.1:1)/none", files[0], files[1]
		a, err := New(t.Context(), cfg, NewLogger(&apptest.Buffer{}, &cfg))
		if err != nil {
			t.Fatal(err)
		}
		err = a.Start(t.Context())
		if stopped := a.Stop(t.Context()); stopped != nil {
			t.Error(stopped)
		}
		if err == nil {
			t.Errorf("%v are taken", files)
		} else if !strings.Contains(err.Error(), "tls-") || strings.Contains(err.Error(), "PRIVATE") {
			t.Errorf("%v: %s", files, err)
		}
	}
}
