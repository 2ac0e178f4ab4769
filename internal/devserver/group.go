package devserver

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// groupSize is the number of members of a group: it continues without one of them.
const groupSize = 3

// MySQLGroup is a MySQL Group Replication with one primary, all of it private servers.
type MySQLGroup struct {
	Nodes []*Server // the first node is the primary at the start
}

// StartMySQLGroup returns a group whose members are all online.
func StartMySQLGroup(ctx context.Context, cfg Config) (*MySQLGroup, error) {
	g, err := StartMySQLMembers(ctx, cfg, groupSize)
	if err != nil {
		return nil, err
	}
	for i, node := range g.Nodes {
		if err := g.add(ctx, node, i == 0); err != nil {
			return nil, errors.Join(fmt.Errorf("make a group of MySQL servers: %w", err), g.Stop(context.WithoutCancel(ctx)))
		}
	}
	return g, nil
}

// StartMySQLMembers returns servers that can be made a group, but are not one yet. Until they are members they are
// read-only.
func StartMySQLMembers(ctx context.Context, cfg Config, members int) (*MySQLGroup, error) {
	g := &MySQLGroup{}
	if err := g.start(ctx, cfg, members); err != nil {
		return nil, errors.Join(fmt.Errorf("start MySQL servers for a group: %w", err), g.Stop(context.WithoutCancel(ctx)))
	}
	return g, nil
}

func (g *MySQLGroup) start(ctx context.Context, cfg Config, members int) error {
	var id [16]byte
	_, _ = rand.Read(id[:])
	dir, name := cfg.Dir, fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]) // as a UUID is written
	seeds, err := freeAddresses(members)
	if err != nil {
		return err
	}
	cfg.Env = append(slices.Clip(cfg.Env), "MYSQLD_PARENT_PID="+strconv.Itoa(os.Getpid())) // a server that clones another's data ends, and expects its parent to start it again
	for i, seed := range seeds {
		cfg.Dir = filepath.Join(dir, "mysql"+strconv.Itoa(i))
		cfg.mysqlArgs = []string{
			"--performance-schema=ON", "--server-id=" + strconv.Itoa(i+1), "--report-host=127.0.0.1", "--gtid-mode=ON", "--enforce-gtid-consistency=ON",
			"--super-read-only=ON", // unless the group makes it the primary
			"--plugin-load-add=mysql_clone.so", "--plugin-load-add=semisync_source.so", "--plugin-load-add=semisync_replica.so",
			"--plugin-load-add=group_replication.so", "--loose-group-replication-group-name=" + name, "--loose-group-replication-start-on-boot=OFF",
			"--loose-group-replication-local-address=" + seed, "--loose-group-replication-group-seeds=" + strings.Join(seeds, ","),
			"--loose-group-replication-recovery-get-public-key=ON", "--loose-group-replication-unreachable-majority-timeout=" + strconv.Itoa(5+cfg.Patience),
			"--loose-group-replication-member-expel-timeout=" + strconv.Itoa(cfg.Patience), // after five seconds in which it is only suspected
		}
		node, err := StartMySQL(ctx, cfg)
		if err != nil {
			return err
		}
		g.Nodes = append(g.Nodes, node)
	}
	return nil
}

// add makes a server a member: the first of the group, or a later member, which gets the group's data.
func (g *MySQLGroup) add(ctx context.Context, node *Server, first bool) error {
	const as = "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'root' FOR CHANNEL 'group_replication_recovery'"
	if err := node.Exec(ctx, as); err != nil {
		return fmt.Errorf("%s: %w", as, err)
	}
	if first {
		return g.bootstrap(ctx, node)
	}
	return g.join(ctx, node)
}

// bootstrap makes a server the first member of the group, which no other may be at that time.
func (g *MySQLGroup) bootstrap(ctx context.Context, node *Server) error {
	const first = "SET GLOBAL group_replication_bootstrap_group = "
	if err := node.Exec(ctx, first+"ON"); err != nil {
		return err
	}
	return errors.Join(g.join(ctx, node), node.Exec(ctx, first+"OFF"))
}

// join adds a server to the group.
func (g *MySQLGroup) join(ctx context.Context, node *Server) error {
	if err := node.Exec(ctx, "START GROUP_REPLICATION"); err != nil {
		return fmt.Errorf("start the replication of %s: %w", node.Addr, err)
	}
	return g.awaitOnline(ctx, node)
}

// Begin makes members that all ended, and were started again, a group: the member that has the transactions of all others
// begins, because acknowledged transactions are certain to be only on the former primary.
func (g *MySQLGroup) Begin(ctx context.Context) error {
	first, has := g.Nodes[0], ""
	for i, node := range g.Nodes {
		its, err := node.value(ctx, "SELECT @@GLOBAL.gtid_executed")
		if err != nil {
			return err
		}
		more, err := node.value(ctx, "SELECT GTID_SUBSET('"+has+"', '"+its+"')")
		if err != nil {
			return err
		}
		if i == 0 || more == "1" {
			first, has = node, its
		}
	}
	if err := g.bootstrap(ctx, first); err != nil {
		return err
	}
	for _, node := range g.Nodes {
		if node == first {
			continue
		}
		if err := g.join(ctx, node); err != nil {
			return err
		}
	}
	return nil
}

// Rejoin makes a server a member again that was restarted, or that the group has expelled.
func (g *MySQLGroup) Rejoin(ctx context.Context, node *Server) error {
	if err := node.Exec(ctx, "STOP GROUP_REPLICATION"); err != nil {
		return err
	}
	return g.join(ctx, node)
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

// Primary returns the member that takes writes, as a running member sees it; or nil.
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
	return addressOfAll(ctx, g.Nodes, database)
}

// Stop stops all servers.
func (g *MySQLGroup) Stop(ctx context.Context) error { return thawAndStop(ctx, g.Nodes) }
