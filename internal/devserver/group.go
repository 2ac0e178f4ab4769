package devserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// groupSize is how many members a group has: it goes on without one of them.
const groupSize = 3

// MySQLGroup is a MySQL Group Replication with one primary, all of it private servers.
type MySQLGroup struct {
	Nodes []*Server // the first one is the primary at first
}

// StartMySQLGroup returns a group whose members are all online.
func StartMySQLGroup(ctx context.Context, cfg Config) (*MySQLGroup, error) {
	g := &MySQLGroup{}
	if err := g.start(ctx, cfg); err != nil {
		return nil, errors.Join(fmt.Errorf("start a group of MySQL servers: %w", err), g.Stop(context.WithoutCancel(ctx)))
	}
	return g, nil
}

func (g *MySQLGroup) start(ctx context.Context, cfg Config) error {
	var id [16]byte
	_, _ = rand.Read(id[:])
	dir, name := cfg.Dir, fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]) // as a UUID is written
	var seeds []string
	for range groupSize {
		port, err := freePort()
		if err != nil {
			return err
		}
		seeds = append(seeds, net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	}
	for i, seed := range seeds {
		cfg.Dir = filepath.Join(dir, "mysql"+strconv.Itoa(i))
		cfg.mysqlArgs = []string{
			"--performance-schema=ON", "--server-id=" + strconv.Itoa(i+1), "--report-host=127.0.0.1", "--gtid-mode=ON", "--enforce-gtid-consistency=ON",
			"--plugin-load-add=group_replication.so", "--loose-group-replication-group-name=" + name, "--loose-group-replication-start-on-boot=OFF",
			"--loose-group-replication-local-address=" + seed, "--loose-group-replication-group-seeds=" + strings.Join(seeds, ","),
			"--loose-group-replication-recovery-get-public-key=ON", "--loose-group-replication-unreachable-majority-timeout=5",
			"--loose-group-replication-member-expel-timeout=0", // after five seconds in which it is only suspected
		}
		node, err := StartMySQL(ctx, cfg)
		if err != nil {
			return err
		}
		g.Nodes = append(g.Nodes, node)
	}
	for i, node := range g.Nodes {
		if err := g.add(ctx, node, i == 0); err != nil {
			return err
		}
	}
	return nil
}

// add makes a server a member: the first one of the group, or one that gets what the group has.
func (g *MySQLGroup) add(ctx context.Context, node *Server, first bool) error {
	const bootstrap = "SET GLOBAL group_replication_bootstrap_group = "
	statements := []string{"CHANGE REPLICATION SOURCE TO SOURCE_USER = 'root' FOR CHANNEL 'group_replication_recovery'", "START GROUP_REPLICATION"}
	if first {
		statements = []string{statements[0], bootstrap + "ON", statements[1], bootstrap + "OFF"}
	}
	for _, q := range statements {
		if err := node.exec(ctx, q); err != nil {
			return fmt.Errorf("%s: %w", q, err)
		}
	}
	return g.awaitOnline(ctx, node)
}

// Rejoin makes a server a member again that was restarted, or that the group has expelled.
func (g *MySQLGroup) Rejoin(ctx context.Context, node *Server) error {
	if err := node.exec(ctx, "STOP GROUP_REPLICATION"); err != nil {
		return err
	}
	if err := node.exec(ctx, "START GROUP_REPLICATION"); err != nil {
		return err
	}
	return g.awaitOnline(ctx, node)
}

// awaitOnline waits until a member says that it is online.
func (g *MySQLGroup) awaitOnline(ctx context.Context, node *Server) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	for {
		state, err := node.value(ctx, "SELECT MEMBER_STATE FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid")
		if err == nil && state == "ONLINE" {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("member %s is %q: %w", node.Addr, state, errors.Join(ctx.Err(), err))
		}
	}
}

// Primary returns the member that takes writes, as a running member sees it; nil when there is none.
func (g *MySQLGroup) Primary(ctx context.Context) *Server {
	for _, node := range g.Nodes {
		const primary = "SELECT MEMBER_PORT FROM performance_schema.replication_group_members WHERE MEMBER_ROLE = 'PRIMARY' AND MEMBER_STATE = 'ONLINE'"
		port, err := node.value(ctx, primary)
		if err != nil {
			continue
		}
		for _, of := range g.Nodes {
			if strings.HasSuffix(of.Addr, ":"+port) {
				return of
			}
		}
	}
	return nil
}

// DSN returns the DSN of a database that the primary makes, with all members as its hosts.
func (g *MySQLGroup) DSN(ctx context.Context, database string) (string, error) {
	dsn, err := g.Nodes[0].CreateDatabase(ctx, database)
	return strings.Replace(dsn, g.Nodes[0].Addr, addresses(g.Nodes), 1), err
}

// Stop stops all servers.
func (g *MySQLGroup) Stop(ctx context.Context) error {
	var errs []error
	for _, node := range slices.Backward(g.Nodes) {
		_ = node.Resume() // one that is frozen could not stop
		errs = append(errs, node.Stop(ctx))
	}
	return errors.Join(errs...)
}
