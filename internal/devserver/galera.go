package devserver

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Galera is a cluster of MariaDB servers, all of them private, in which a commit at one is at all. One of them takes
// writes, and the others are read-only.
type Galera struct {
	Nodes []*Server // the first one takes writes at first
}

// StartGalera returns a cluster of three nodes that are in step.
func StartGalera(ctx context.Context, cfg Config) (*Galera, error) {
	g, err := StartGaleraNodes(ctx, cfg, groupSize)
	if err != nil {
		return nil, err
	}
	if err := g.Nodes[0].Exec(ctx, "SET GLOBAL read_only = OFF"); err != nil {
		return nil, errors.Join(err, g.Stop(context.WithoutCancel(ctx)))
	}
	return g, nil
}

// StartGaleraNodes returns a cluster of a number of nodes that are in step and read-only.
func StartGaleraNodes(ctx context.Context, cfg Config, nodes int) (*Galera, error) {
	g := &Galera{}
	if err := g.start(ctx, cfg, nodes); err != nil {
		return nil, errors.Join(fmt.Errorf("start a Galera cluster: %w", err), g.Stop(context.WithoutCancel(ctx)))
	}
	return g, nil
}

func (g *Galera) start(ctx context.Context, cfg Config, nodes int) error {
	provider, err := galeraProvider(ctx, cfg)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return err
	}
	scripts := filepath.Join(dir, "scripts")
	if err := errors.Join(os.MkdirAll(scripts, 0o755), os.WriteFile(filepath.Join(scripts, "wsrep_sst_"+galeraCopy), []byte(galeraCopyScript), 0o755)); err != nil {
		return err
	}
	cfg.Env = append(slices.Clip(cfg.Env), "PATH="+scripts+string(filepath.ListSeparator)+os.Getenv("PATH"))
	addresses, err := freeAddresses(nodes)
	if err != nil {
		return err
	}
	all := "--wsrep-cluster-address=gcomm://" + strings.Join(addresses, ",")
	for i, address := range addresses {
		name := "db" + strconv.Itoa(i+1)
		cfg.Dir = filepath.Join(dir, name)
		args, err := galeraArgs(cfg, name, i+1, address)
		if err != nil {
			return err
		}
		first := all
		if i == 0 {
			first = "--wsrep-cluster-address=gcomm://" // which begins a cluster
		}
		cfg.mysqlArgs = append(args, "--wsrep-provider="+provider, first)
		node, err := StartMariaDB(ctx, cfg)
		if err != nil {
			return err
		}
		node.run.cfg.mysqlArgs = append(slices.Clip(args), "--wsrep-provider="+provider, all) // of a restart
		node.run.more = galeraPosition
		g.Nodes = append(g.Nodes, node)
	}
	return nil
}

// galeraPosition returns the argument with the position of a node's data, as galera_recovery does before each start: a node
// that ended without writing it down would consider its data older than all others.
func galeraPosition(ctx context.Context, in *instance) ([]string, error) {
	cmd, err := in.prog.command(append(in.args(), "--wsrep-recover")...)
	if err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Env, in.cfg.Env...)
	out, err := runCommand(ctx, cmd)
	if err != nil {
		return nil, fmt.Errorf("how far a node of Galera is: %w", err)
	}
	_, position, ok := strings.Cut(out, "WSREP: Recovered position:")
	if !ok {
		return nil, fmt.Errorf("how far a node of Galera is: it does not say: %s", lastLines(out, 10))
	}
	position, _, _ = strings.Cut(strings.TrimSpace(position), "\n")
	return []string{"--wsrep-start-position=" + position}, nil
}

// galeraArgs are the arguments of a node, without its cluster and the provider.
func galeraArgs(cfg Config, name string, id int, address string) ([]string, error) {
	ist, err := freePort()
	if err != nil {
		return nil, err
	}
	silent := 5 + cfg.Patience // seconds, as Galera has it
	options := []string{
		"gmcast.listen_addr=tcp://" + address, "ist.recv_addr=127.0.0.1:" + strconv.Itoa(ist), "gcache.size=32M",
		"evs.causal_keepalive_period=PT1S", fmt.Sprintf("evs.suspect_timeout=PT%dS", silent), fmt.Sprintf("evs.inactive_timeout=PT%dS", 3*silent),
	}
	return []string{
		"--server-id=" + strconv.Itoa(id), "--read-only=ON", "--binlog-format=ROW", "--innodb-autoinc-lock-mode=2",
		"--wsrep-on=ON", "--wsrep-cluster-name=leaderboard", "--wsrep-node-name=" + name, "--wsrep-node-address=127.0.0.1",
		"--wsrep-provider-options=" + strings.Join(options, ";"),
		"--wsrep-sst-method=" + galeraCopy, "--wsrep-sst-auth=none:none", // without one a node makes an account for it
	}, nil
}

// galeraCopy is how a node that joins gets the data of another one: it copies the files, since both are on this machine. Other ways take
// programs that a machine of tests may not have.
const galeraCopy = "copy"

//go:embed galera_copy.sh
var galeraCopyScript string

// galeraProvider returns the library that makes a MariaDB a node: from the program's own packages, this machine, or the
// distribution's package.
func galeraProvider(ctx context.Context, cfg Config) (string, error) {
	var folders []string
	if cfg.Program != "" {
		folders = append(folders, filepath.Join(inRoot(program{path: cfg.Program}).base(), "lib"))
	}
	if prog, err := lookPath(ctx, KindMariaDB); err == nil && cfg.Program == "" {
		folders = append(folders, filepath.Join(prog.base(), "lib"))
	}
	for _, folder := range folders {
		for _, name := range []string{"libgalera_smm.so", "galera/libgalera_smm.so"} {
			path := filepath.Join(folder, name)
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
	}
	c, err := openCache(cfg.Cache)
	if err != nil {
		return "", err
	}
	root, err := c.once(ctx, filepath.Join("programs", "galera"), func(ctx context.Context, dir string) error {
		return c.fetchPackages(ctx, apt{dir: filepath.Join(c.dir, "apt")}, []string{"galera-4"}, dir)
	})
	return filepath.Join(root, "usr/lib/libgalera_smm.so"), err
}

// name returns the name of a node in the cluster.
func (g *Galera) name(of *Server) string { return "db" + strconv.Itoa(slices.Index(g.Nodes, of)+1) }

// Writer returns the node that takes writes; nil if no node or several do.
func (g *Galera) Writer(ctx context.Context) (writer *Server) {
	for _, node := range g.Nodes {
		said, err := node.value(ctx, "SELECT @@GLOBAL.read_only")
		switch {
		case err != nil || said != "0":
		case writer != nil:
			return nil
		default:
			writer = node
		}
	}
	return writer
}

// Promote has a node take writes in the place of another one, which is dead, or has heard that it is read-only: as docs/failover.md does.
func (g *Galera) Promote(ctx context.Context, old, next *Server) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	err := poll(ctx, func() error {
		if old.Exec(ctx, "SET GLOBAL read_only = ON") == nil {
			return nil
		}
		is, err := next.value(ctx, "SELECT COUNT(*) FROM mysql.wsrep_cluster_members WHERE node_name = '"+g.name(old)+"'")
		if err == nil && is != "0" {
			err = fmt.Errorf("%s is a node of the cluster, and does not answer", old.Addr)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("have %s take writes: %w", next.Addr, err)
	}
	for _, statement := range []string{"SET STATEMENT wsrep_sync_wait = 1 FOR SELECT 1", "SET GLOBAL read_only = OFF"} {
		if err := next.Exec(ctx, statement); err != nil {
			return fmt.Errorf("have %s take writes: %s: %w", next.Addr, statement, err)
		}
	}
	return nil
}

// RestartAll starts all nodes again after all were killed. They make a cluster again when all of them are there, by the
// state of the last cluster on each disk (pc.recovery, gvwstate.dat), and none takes writes.
func (g *Galera) RestartAll(ctx context.Context) error {
	failed := make([]error, len(g.Nodes))
	var starting sync.WaitGroup
	for i, node := range g.Nodes {
		starting.Go(func() { failed[i] = node.Restart(ctx) })
	}
	starting.Wait()
	if err := errors.Join(failed...); err != nil {
		return err
	}
	return g.AwaitNodes(ctx, len(g.Nodes))
}

// AwaitNodes waits until all running nodes are in step, and their number is right.
func (g *Galera) AwaitNodes(ctx context.Context, nodes int) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	return poll(ctx, func() error {
		var in int
		var last error
		for _, node := range g.Nodes {
			state, err := node.status(ctx, "wsrep_local_state_comment")
			size, err2 := node.status(ctx, "wsrep_cluster_size")
			if err := errors.Join(err, err2); err != nil {
				last = err
				continue
			}
			if state != "Synced" || size != strconv.Itoa(nodes) {
				return fmt.Errorf("node %s is %s, of %s nodes", node.Addr, state, size)
			}
			in++
		}
		if in != nodes {
			return fmt.Errorf("%d nodes are in step, of %d: %w", in, nodes, last)
		}
		return nil
	})
}

// status returns the status variables of a MariaDB.
func (s *Server) status(ctx context.Context, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return s.value(ctx, "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = '"+name+"'")
}

// DSN returns the DSN of a database that the writing node makes, with all nodes as its hosts.
func (g *Galera) DSN(ctx context.Context, database string) (string, error) {
	return addressOfAll(ctx, g.Nodes, database)
}

// Stop stops all nodes.
func (g *Galera) Stop(ctx context.Context) error { return thawAndStop(ctx, g.Nodes) }
