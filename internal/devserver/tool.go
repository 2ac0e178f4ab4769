package devserver

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Tool is a program that tests run, such as promtool.
type Tool struct{ program program }

// FindTool returns the program called name on PATH, else the program from a package of the distribution, fetched like the
// servers. dir is the folder for fetched programs; empty means the user's cache folder.
func FindTool(ctx context.Context, dir, pkg, name string, log func(string, ...any)) (Tool, error) {
	if path, err := exec.LookPath(name); err == nil {
		return Tool{program{path: path}}, nil
	}
	c, err := openCache(dir)
	if err != nil {
		return Tool{}, err
	}
	root, err := c.once(ctx, filepath.Join("programs", pkg), func(ctx context.Context, dir string) error {
		log("fetching %s from this machine's package archive into %s", pkg, c.dir)
		return c.fetchPackages(ctx, apt{dir: filepath.Join(c.dir, "apt")}, []string{pkg}, dir)
	})
	if err != nil {
		return Tool{}, fmt.Errorf("no %s on PATH, and the package %s cannot be fetched: %w", name, pkg, err)
	}
	for _, bin := range []string{"usr/bin", "usr/sbin"} {
		p := program{path: filepath.Join(root, bin, name), root: root}
		if _, err := os.Stat(p.path); err == nil {
			return Tool{p}, nil
		}
	}
	return Tool{}, fmt.Errorf("the package %s holds no %s", pkg, name)
}

// Command returns how to run the tool.
func (t Tool) Command(args ...string) (*exec.Cmd, error) { return t.program.command(args...) }
