package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"leaderboard/internal/devserver"
	"leaderboard/leaderboard"
)

const (
	groupBoard    = "group"
	groupDatabase = "bench"
	groupRounds   = 5
)

// replicated is a server of the service with its own database servers.
type replicated struct {
	*service
	what string
	stop func()
}

// measureGroup compares submits to a server whose database is a group of three, and to a server whose database is a source
// with a semi-synchronous replica, with submits to a server with a single database server. All share the cores and the disk
// of this machine.
func (w *world) measureGroup(ctx context.Context, rep *report) error {
	var all []*replicated
	defer func() {
		for _, r := range all {
			r.service.stop()
			r.stop()
		}
	}()
	for _, start := range []func(context.Context) (*replicated, string, error){w.startAlone, w.startGroup, w.startReplica} {
		r, dsn, err := start(ctx)
		if err != nil {
			return err
		}
		all = append(all, r)
		if r.service, err = startProgram(ctx, w.program, dsn, "", w.serveArgs); err != nil {
			return err
		}
		if _, _, err := r.api.PutBoard(ctx, groupBoard, leaderboard.Rules{Policy: leaderboard.PolicyLatest}); err != nil {
			return err
		}
		if err := r.fillOverHTTP(groupBoard, w.members, ""); err != nil {
			return fmt.Errorf("%s: %w", r.what, err)
		}
	}
	for _, with := range all[1:] {
		if err := w.compareGroup(rep, with, all[0]); err != nil {
			return fmt.Errorf("%s: %w", with.what, err)
		}
	}
	return nil
}

// compareGroup adds the rows of a server next to the server with a single database server.
func (w *world) compareGroup(rep *report, with, alone *replicated) error {
	for _, c := range []struct {
		conns, entries int
		goal           string
	}{
		{submitConns, 1, "≥ 0.8"},
		{batchConns, bulkRows, "≥ 0.8"},
		{1, 1, ""},
	} {
		var p50s [2][]time.Duration
		submits := func(to *replicated, i int) func() (float64, error) {
			return func() (float64, error) {
				result := load{addrs: []string{to.addr}, conns: c.conns, length: w.seconds(writeSeconds), request: func(_, _ int, buf []byte) []byte {
					return appendSubmit(buf, groupBoard, w.members, c.entries)
				}}.run()
				p50s[i] = append(p50s[i], result.quantile(0.5))
				return result.perSecond() * float64(c.entries), result.failure()
			}
		}
		a, b, ratio, err := paired(groupRounds, submits(with, 0), submits(alone, 1))
		if err != nil {
			return err
		}
		rep.add(row{
			what:      fmt.Sprintf("%s: submits of %d, %d connections", with.what, c.entries, c.conns),
			here:      thousands(a) + " rows/s; p50 " + inMS(median(p50s[0])),
			yardstick: alone.what + ": " + thousands(b) + " rows/s; p50 " + inMS(median(p50s[1])),
			ratio:     ratio, goal: c.goal,
		})
	}
	return nil
}

// groupConfig is the configuration of the database servers of one kind.
func (w *world) groupConfig(kind string) devserver.Config {
	return devserver.Config{Dir: filepath.Join(w.dir, groupBoard, kind), MySQLOnly: true, Ephemeral: true}
}

func (w *world) startAlone(ctx context.Context) (*replicated, string, error) {
	s, err := devserver.StartMySQL(ctx, w.groupConfig("alone"))
	if err != nil {
		return nil, "", err
	}
	dsn, err := s.CreateDatabase(ctx, groupDatabase)
	return &replicated{what: "one server", stop: func() { _ = s.Stop(context.Background()) }}, dsn, err
}

func (w *world) startGroup(ctx context.Context) (*replicated, string, error) {
	g, err := devserver.StartMySQLGroup(ctx, w.groupConfig("group"))
	if err != nil {
		return nil, "", err
	}
	dsn, err := g.DSN(ctx, groupDatabase)
	return &replicated{what: "a group of three", stop: func() { _ = g.Stop(context.Background()) }}, dsn, err
}

// startReplica starts a source and a replica as docs/failover.md does.
func (w *world) startReplica(ctx context.Context) (*replicated, string, error) {
	g, err := devserver.StartMySQLMembers(ctx, w.groupConfig("replica"), 2)
	if err != nil {
		return nil, "", err
	}
	r := &replicated{what: "a source and a semi-synchronous replica", stop: func() { _ = g.Stop(context.Background()) }}
	host, port, _ := strings.Cut(g.Nodes[0].Addr, ":")
	for _, step := range []struct {
		at int
		do string
	}{
		{1, "SET GLOBAL rpl_semi_sync_replica_enabled = ON"},
		{1, fmt.Sprintf("CHANGE REPLICATION SOURCE TO SOURCE_HOST = '%s', SOURCE_PORT = %s, SOURCE_USER = 'root', SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1", host, port)},
		{1, "START REPLICA"},
		{0, "SET GLOBAL rpl_semi_sync_source_timeout = 4294967295"},
		{0, "SET GLOBAL rpl_semi_sync_source_enabled = ON"},
		{0, "SET GLOBAL read_only = OFF"},
	} {
		if err := g.Nodes[step.at].Exec(ctx, step.do); err != nil {
			r.stop()
			return nil, "", fmt.Errorf("%s: %w", step.do, err)
		}
	}
	dsn, err := g.DSN(ctx, groupDatabase)
	return r, dsn, err
}
