package devserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

type mariadbService struct{}

func (mariadbService) prepare(ctx context.Context, prog program, c cache, dir string) error {
	return c.cloneTemplate(ctx, prog, dir, initMariaDB)
}

// initMariaDB does the work of mariadb-install-db, without its tools: it feeds the system tables to the server's bootstrap
// mode, which requires each statement to end a line. They give root to 127.0.0.1 without a password.
func initMariaDB(ctx context.Context, prog program, dir string) error {
	share, err := mariadbShare(prog)
	if err != nil {
		return err
	}
	sql := bytes.NewBufferString("create database mysql;\nuse mysql;\nset @auth_root_socket=null;\n")
	for _, name := range []string{"system_tables", "performance_tables", "system_tables_data"} {
		text, err := readFirst(filepath.Join(share, "mariadb_"+name+".sql"), filepath.Join(share, "mysql_"+name+".sql"))
		if err != nil {
			return err
		}
		sql.Write(text)
	}
	if err := errors.Join(os.Mkdir(dir, 0o755), os.MkdirAll(tmpDir(dir), 0o755)); err != nil {
		return err
	}
	defer os.RemoveAll(tmpDir(dir))
	args := append(commonArgs(prog, dir), mariadbPlaces(prog)...)
	cmd, err := prog.command(append(args, "--bootstrap", "--innodb-log-file-size=8M", "--log-warnings=0",
		"--enforce-storage-engine=", "--max-allowed-packet=8M", "--innodb-flush-log-at-trx-commit=0")...)
	if err != nil {
		return err
	}
	cmd.Stdin = sql
	out, err := runCommand(ctx, cmd)
	if err == nil && strings.Contains(out, "ERROR") {
		err = fmt.Errorf("bootstrap: %s", lastLines(out, 10))
	}
	return err
}

// mariadbShare finds the folder with the SQL of the system tables.
func mariadbShare(prog program) (string, error) {
	for _, base := range []string{prog.base(), "/usr", "/usr/local"} {
		for _, name := range []string{"share/mariadb", "share/mysql"} {
			dir := filepath.Join(base, name)
			for _, file := range []string{"mariadb_system_tables.sql", "mysql_system_tables.sql"} {
				if _, err := os.Stat(filepath.Join(dir, file)); err == nil {
					return dir, nil
				}
			}
		}
	}
	return "", fmt.Errorf("no mariadb_system_tables.sql near %s", prog.path)
}

// readFirst reads the first of the files that exists.
func readFirst(paths ...string) ([]byte, error) {
	var err error
	for _, p := range paths {
		var text []byte
		if text, err = os.ReadFile(p); err == nil {
			return text, nil
		}
	}
	return nil, err
}

func mariadbPlaces(prog program) []string {
	if prog.root == "" {
		return nil
	}
	share, err := mariadbShare(prog)
	if err != nil {
		share = filepath.Join(prog.base(), "share/mariadb")
	}
	return []string{
		"--lc-messages-dir=" + share,
		"--plugin-dir=" + filepath.Join(prog.base(), "lib/mysql/plugin"),
	}
}

func (mariadbService) args(prog program, cfg Config, dir string, port int) []string {
	args := append(commonArgs(prog, dir), mariadbPlaces(prog)...)
	args = append(args, networkArgs(port)...)
	args = append(args, sizeArgs(cfg)...)
	if cfg.Ephemeral {
		args = append(args, "--innodb-log-file-size=32M")
	}
	if cfg.BinaryLog {
		args = append(args, "--log-bin=binlog", "--server-id=1")
	}
	if cfg.Fast {
		args = append(args, "--innodb-flush-log-at-trx-commit=0", "--skip-innodb-doublewrite")
	} else {
		args = append(args, "--innodb-flush-log-at-trx-commit=1")
	}
	return append(args, cfg.mysqlArgs...)
}

func (mariadbService) ready(ctx context.Context, addr, dir string, _ int) error {
	return sqlReady(ctx, addr, dir)
}
