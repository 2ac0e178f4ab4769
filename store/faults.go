package store

import (
	"context"

	"leaderboard/internal/mysql"
	"leaderboard/internal/serverfault"
	"leaderboard/migrations"
	"leaderboard/store/commit"
)

// Faults returns which database server it is, as in MySQL 8.4.3, and what is wrong with it, for this many processes with this
// configuration. It changes nothing. Errors: ErrUnavailable, ErrReadOnly.
func (s *Store) Faults(ctx context.Context, processes int) (server string, faults []serverfault.Fault, err error) {
	return s.db.Faults(ctx, mysql.Need{Packet: commit.MaxPacket(s.cfg.BatchRows), Conns: processes * s.cfg.MaxConns, Hosts: len(mysql.DSNs(s.cfg.DSN))})
}

// RightsToWork returns what the account lacks for working on the tables, which are there. Errors: ErrUnavailable.
func (s *Store) RightsToWork(ctx context.Context) ([]serverfault.Fault, error) {
	var tables []mysql.Table
	for _, t := range migrations.Tables() {
		tables = append(tables, mysql.Table(t))
	}
	return s.db.RightsToWork(ctx, tables)
}

// RightsToMigrate returns what the account lacks for changing the schema. Errors: ErrUnavailable.
func (s *Store) RightsToMigrate(ctx context.Context) ([]serverfault.Fault, error) {
	return s.db.RightsToMigrate(ctx)
}
