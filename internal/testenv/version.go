package testenv

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// WithVersion returns a DSN of the same database through a proxy that makes the server say another version and, unless it is "",
// another version comment. It passes all else on. The proxy ends with the test.
func WithVersion(t testing.TB, dsn, version, comment string) string {
	t.Helper()
	cfg, err := mysql.ParseDSN(dsn)
	if err != nil {
		t.Fatalf("address of the test's server: %s", err)
	}
	upstream := cfg.Addr
	said := []string{"VERSION()", "'" + version + "'"}
	if comment != "" {
		said = append(said, "@@version_comment", "'"+comment+"'")
	}
	pretended := strings.NewReplacer(said...)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); conns.Wait() })
	conns.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { pretend(client, upstream, pretended) })
		}
	})
	cfg.Addr = listener.Addr().String()
	return cfg.FormatDSN()
}

// pretend copies a connection until either end closes it, and puts what the server is to say in the place of the question.
func pretend(client net.Conn, upstream string, pretended *strings.Replacer) {
	defer client.Close()
	server, err := net.Dial("tcp", upstream)
	if err != nil {
		return
	}
	var answers sync.WaitGroup
	answers.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	defer answers.Wait()
	defer server.Close()
	const comQuery = "\x03SELECT "
	for {
		header := make([]byte, 4) // the length, in three bytes with the low one first, and a number
		if _, err := io.ReadFull(client, header); err != nil {
			return
		}
		packet := make([]byte, int(header[0])|int(header[1])<<8|int(header[2])<<16)
		if _, err := io.ReadFull(client, packet); err != nil {
			return
		}
		if text := string(packet); strings.HasPrefix(text, comQuery) && strings.Contains(text, "VERSION()") {
			packet = []byte(pretended.Replace(text))
			number := header[3]
			binary.LittleEndian.PutUint32(header, uint32(len(packet)))
			header[3] = number
		}
		if _, err := server.Write(append(header, packet...)); err != nil {
			return
		}
	}
}
