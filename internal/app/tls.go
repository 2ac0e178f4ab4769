package app

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// certEvery is the time between two looks at the files of the certificate, give or take certJitter.
const (
	certEvery  = time.Second
	certJitter = 100 * time.Millisecond
)

// certificate is the certificate in two files. They are read again and compared, so that it does not matter how they are
// replaced: in place, by another file or by a link to one. While the two do not fit together, because only one has been
// replaced, the certificate before is served. Only current may be called concurrently.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger
	loaded            atomic.Pointer[tls.Certificate]

	cert, key []byte // the bytes that were read last, good or not
	said      string // the last warning
}

// readCertificate reads a certificate, which must be good.
func readCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, look, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	if err := c.read(); err != nil {
		return nil, look{}, err
	}
	return c, look{found: fmt.Sprintf("%s is good until %s", certFile, c.loaded.Load().Leaf.NotAfter.UTC().Format(time.DateTime))}, nil
}

// current returns the certificate for a new connection.
func (c *certificate) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.loaded.Load(), nil
}

// read loads the files if they have changed.
func (c *certificate) read() error {
	cert, err := os.ReadFile(c.certFile)
	if err != nil {
		return fmt.Errorf("tls-cert: %w", err)
	}
	key, err := os.ReadFile(c.keyFile)
	if err != nil {
		return fmt.Errorf("tls-key: %w", err)
	}
	if bytes.Equal(cert, c.cert) && bytes.Equal(key, c.key) {
		return nil
	}
	c.cert, c.key = cert, key
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return fmt.Errorf("tls-cert, tls-key: %w", err)
	}
	c.loaded.Store(&pair)
	c.said = ""
	c.log.Info("TLS certificate", "subject", pair.Leaf.Subject.String(), "names", pair.Leaf.DNSNames, "until", pair.Leaf.NotAfter)
	return nil
}

// reread reads the files, and logs a fault in them once.
func (c *certificate) reread() {
	if err := c.read(); err != nil && err.Error() != c.said {
		c.said = err.Error()
		c.log.Warn("the TLS certificate that was there before is served: the files are not good", "error", err)
	}
}

// serveBy makes a server serve TLS with the certificate, and HTTP/1.1 alone: a connection of HTTP/2 carries a hundred requests,
// so the limits of connections would bound nothing, and it takes parts of bodies in before the budget of bodies counts them.
func (c *certificate) serveBy(server *http.Server) {
	server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: c.current}
	server.Protocols = new(http.Protocols)
	server.Protocols.SetHTTP1(true)
}
