package devserver

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// sqlReady asks the MySQL or MariaDB at addr for its data folder, which must be
// dir.
func sqlReady(ctx context.Context, addr, dir string) error {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr = "root", "tcp", addr
	got, err := sqlValue(ctx, cfg, "SELECT @@datadir")
	if err != nil {
		return err
	}
	if !sameFolder(got, dir) {
		return fmt.Errorf("%w: its data are in %s", errForeign, got)
	}
	return nil
}

// sqlValue runs a query of one value on a separate connection.
func sqlValue(ctx context.Context, cfg *mysql.Config, query string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	cfg.Timeout, cfg.ReadTimeout, cfg.WriteTimeout = probeLimit, probeLimit, probeLimit
	cfg.Logger = &mysql.NopLogger{} // refused connections are expected here
	conn, err := mysql.NewConnector(cfg)
	if err != nil {
		return "", err
	}
	db := sql.OpenDB(conn)
	defer db.Close()
	var value string
	err = db.QueryRowContext(ctx, query).Scan(&value)
	return value, err
}

// sameFolder compares two paths that may be spelled through symbolic links.
func sameFolder(a, b string) bool {
	return strings.TrimSuffix(resolve(a), "/") == strings.TrimSuffix(resolve(b), "/")
}

func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
