package devserver

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
)

// grantRoot lets root in from 127.0.0.1, whether or not names are resolved.
const grantRoot = "CREATE USER IF NOT EXISTS 'root'@'127.0.0.1';\n" +
	"GRANT ALL ON *.* TO 'root'@'127.0.0.1' WITH GRANT OPTION;\n"

type mysqlService struct{}

func (mysqlService) prepare(ctx context.Context, prog program, c cache, dir string) error {
	return c.cloneTemplate(ctx, prog, dir, initMySQL)
}

// initMySQL makes a new data folder, with little redo log so that it is quick
// to copy; the server grows it to its setting when it starts.
func initMySQL(ctx context.Context, prog program, dir string) error {
	grants := dir + ".sql"
	if err := os.WriteFile(grants, []byte(grantRoot), 0o644); err != nil {
		return err
	}
	defer os.Remove(grants)
	if err := os.MkdirAll(tmpDir(dir), 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(tmpDir(dir))
	args := append(commonArgs(prog, dir), mysqlPlaces(prog)...)
	cmd, err := prog.command(append(args, "--initialize-insecure", "--init-file="+grants,
		"--innodb-redo-log-capacity=8M", "--skip-log-bin", "--innodb-flush-log-at-trx-commit=0",
		"--innodb-doublewrite=OFF", "--performance-schema=OFF")...)
	if err != nil {
		return err
	}
	if _, err := runCommand(ctx, cmd); err != nil {
		return err
	}
	// The copies shall not all claim to be the same server.
	if err := os.Remove(filepath.Join(dir, "auto.cnf")); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

// commonArgs returns the arguments of every run of MySQL and MariaDB.
func commonArgs(prog program, dir string) []string {
	settings := "--no-defaults"
	if prog.kind == KindMySQL {
		settings = "--defaults-file=" + os.DevNull // it keeps the settings of SET PERSIST
	}
	args := []string{settings, "--datadir=" + dir, "--tmpdir=" + tmpDir(dir)}
	if os.Geteuid() == 0 {
		args = append(args, "--user=root") // they refuse to run as root unasked
	}
	if prog.root != "" {
		args = append(args, "--basedir="+prog.base())
	}
	return args
}

// mysqlPlaces returns the arguments with the places of a fetched MySQL's files; a MySQL on PATH knows them.
func mysqlPlaces(prog program) []string {
	if prog.root == "" {
		return nil
	}
	return []string{
		"--lc-messages-dir=" + filepath.Join(prog.base(), "share/mysql"),
		"--plugin-dir=" + filepath.Join(prog.base(), "lib/mysql/plugin"),
	}
}

// networkArgs bind to 127.0.0.1 and keep the rest inside the data folder. The
// socket's path is relative to it: absolute ones may exceed the kernel's limit.
func networkArgs(port int) []string {
	return []string{
		"--bind-address=127.0.0.1", "--port=" + strconv.Itoa(port), "--skip-name-resolve",
		"--socket=" + socketName, "--pid-file=server.pid", "--secure-file-priv=",
		"--performance-schema=OFF",
	}
}

// sizeArgs fit a laptop, or a machine that runs many tests.
func sizeArgs(cfg Config) []string {
	if cfg.Ephemeral {
		return []string{"--innodb-buffer-pool-size=64M", "--max-connections=500"}
	}
	return []string{"--innodb-buffer-pool-size=128M", "--max-connections=200"}
}

func (mysqlService) args(prog program, cfg Config, dir string, port int) []string {
	args := append(commonArgs(prog, dir), mysqlPlaces(prog)...)
	args = append(args, networkArgs(port)...)
	args = append(args, sizeArgs(cfg)...)
	args = append(args, "--mysqlx=OFF")
	if cfg.Ephemeral {
		args = append(args, "--innodb-redo-log-capacity=32M")
	}
	if cfg.Fast {
		return append(args, "--innodb-flush-log-at-trx-commit=0", "--skip-log-bin", "--innodb-doublewrite=OFF")
	}
	// MySQL's own defaults, said aloud because promises depend on them. The
	// binary log serves durability only: a day of it is plenty.
	args = append(args, "--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1",
		"--binlog-expire-logs-seconds=86400", "--server-id=1")
	return append(args, cfg.mysqlArgs...)
}

func (mysqlService) ready(ctx context.Context, addr, dir string, _ int) error {
	return sqlReady(ctx, addr, dir)
}
