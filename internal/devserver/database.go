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
	cfg, err := s.config()
	if err != nil {
		return "", err
	}
	if err := s.Exec(ctx, "CREATE DATABASE IF NOT EXISTS "+name); err != nil {
		return "", fmt.Errorf("create the database: %w", err)
	}
	cfg.DBName = name
	return cfg.FormatDSN(), nil
}

// config returns how a MySQL or MariaDB server is reached.
func (s *Server) config() (*mysql.Config, error) {
	cfg, err := mysql.ParseDSN(s.DSN)
	if err != nil {
		return nil, fmt.Errorf("address of the private server: %w", err)
	}
	return cfg, nil
}

// Exec runs a statement on a separate connection, on a MySQL or MariaDB.
func (s *Server) Exec(ctx context.Context, statement string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit) // a member may wait for a group that no longer exists
	defer cancel()
	cfg, err := s.config()
	if err != nil {
		return err
	}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return fmt.Errorf("address of the private server: %w", err)
	}
	db := sql.OpenDB(connector)
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = db.ExecContext(ctx, statement)
	return err
}

// value runs a query of one value on a separate connection.
func (s *Server) value(ctx context.Context, query string) (string, error) {
	cfg, err := s.config()
	if err != nil {
		return "", err
	}
	return sqlValue(ctx, cfg, query)
}
