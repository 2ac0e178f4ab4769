package db

import (
	"slices"
	"testing"
)

// TestDSNs: each host of a DSN is a DSN, with the default port where none is given, whatever is in the password.
func TestDSNs(t *testing.T) {
	for _, c := range []struct {
		dsn  string
		want []string
	}{
		{"u:p@tcp(h1:1)/db", []string{"h1:1"}},
		{"u:p@/db", []string{"127.0.0.1:3306"}},
		{"u:p@unix(/tmp/a.sock)/db", []string{"/tmp/a.sock"}},
		{"u:p@tcp(h1:1,h2:2)/db", []string{"h1:1", "h2:2"}},
		{"u:p@tcp(h1, h2,[::1]:2)/db?tls=skip-verify", []string{"h1:3306", "h2:3306", "[::1]:2"}},
		{"u:(,)@/p@tcp(h1,h2:2)/db", []string{"h1:3306", "h2:2"}},
	} {
		each, err := parseDSN(Config{DSN: c.dsn})
		if err != nil {
			t.Fatalf("%s: %v", c.dsn, err)
		}
		var got []string
		for _, mc := range each {
			got = append(got, mc.Addr)
			if mc.User != "u" || mc.DBName != "db" {
				t.Errorf("%s: user %q, database %q", c.dsn, mc.User, mc.DBName)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s names %q, want %q", c.dsn, got, c.want)
		}
	}
}
