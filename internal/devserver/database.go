package devserver

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/go-sql-driver/mysql"
)

// CreateDatabase makes a database on a MySQL or MariaDB server, unless it is there, and returns the DSN that names it.
func (s *Server) CreateDatabase(ctx context.Context, name string) (dsn string, err error) {
	cfg, err := mysql.ParseDSN(s.DSN)
	if err != nil {
		return "", fmt.Errorf("address of the private server: %w", err)
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return "", fmt.Errorf("address of the private server: %w", err)
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, "CREATE DATABASE IF NOT EXISTS "+name); err != nil {
		return "", fmt.Errorf("create the database: %w", err)
	}
	named := cfg.Clone()
	named.DBName = name
	return named.FormatDSN(), nil
}
