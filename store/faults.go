package store

import (
	"context"

	"leaderboard/internal/mysql"
	"leaderboard/internal/serverfault"
	"leaderboard/migrations"
	"leaderboard/store/commit"
)

// Faults returns the name of the database server, such as MySQL 8.4.3, and its faults, for a number of processes with this
// configuration. It changes nothing. Errors: ErrUnavailable, ErrReadOnly.
func (s *Store) Faults(ctx context.Context, processes int) (server string, faults []serverfault.Fault, err error) {
	return s.db.Faults(ctx, mysql.Need{Packet: commit.MaxPacket(s.cfg.BatchRows), Conns: processes * s.cfg.MaxConns, Hosts: len(mysql.DSNs(s.cfg.DSN))})
}

// RightsToWork returns the rights that the account lacks to work on the tables, which must exist. Errors: ErrUnavailable.
func (s *Store) RightsToWork(ctx context.Context) ([]serverfault.Fault, error) {
	var tables []mysql.Table
	for _, t := range migrations.Tables() {
		tables = append(tables, mysql.Table(t))
	}
	return s.db.RightsToWork(ctx, tables)
}

// RightsToMigrate returns the rights that the account lacks to change the schema. Errors: ErrUnavailable.
func (s *Store) RightsToMigrate(ctx context.Context) ([]serverfault.Fault, error) {
	return s.db.RightsToMigrate(ctx)
}
