package devserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Browser is a Chromium that this machine can run.
type Browser struct {
	Path string
	Env  []string // its variables in addition to the environment of this process
}

// browserPackages are Chromium, and fonts for the names of people.
const browserPackages = "chromium fonts-dejavu-core fonts-droid-fallback fonts-noto-color-emoji"

// FindBrowser returns the Chromium on PATH, else a Chromium that it fetches like the servers. dir is the folder for fetched
// programs; empty means the user's cache folder.
func FindBrowser(ctx context.Context, dir string, log func(string, ...any)) (Browser, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return Browser{Path: path}, nil
		}
	}
	c, err := openCache(dir)
	if err != nil {
		return Browser{}, err
	}
	root, err := c.once(ctx, "programs/chromium", func(ctx context.Context, dir string) error {
		log("fetching chromium from this machine's package archive into %s", c.dir)
		began := time.Now()
		if err := c.fetchBrowser(ctx, dir); err != nil {
			return err
		}
		log("fetched chromium in %s", time.Since(began).Round(100*time.Millisecond))
		return nil
	})
	if err != nil {
		return Browser{}, fmt.Errorf("no Chromium on PATH, and its packages cannot be fetched (on Debian: apt-get install chromium; "+
			"elsewhere install Chromium or Chrome): %w", err)
	}
	return c.browserIn(root)
}

// fetchBrowser unpacks Chromium, and all it needs but the C library, into dir. The packages come from the machine's own
// release, not from the release that has MySQL: Chromium starts itself again for each page, which it does with the
// machine's loader.
func (c cache) fetchBrowser(ctx context.Context, dir string) error {
	return c.fetchPackages(ctx, apt{dir: filepath.Join(c.dir, "apt-own"), own: true}, []string{browserPackages}, dir)
}

// browserIn finds the Chromium below root, and says where its libraries and fonts are.
func (c cache) browserIn(root string) (Browser, error) {
	b := Browser{Path: filepath.Join(root, "usr/lib/chromium/chromium")}
	if _, err := os.Stat(b.Path); err != nil {
		return b, fmt.Errorf("the packages in %s hold no Chromium: %w", root, err)
	}
	fonts := filepath.Join(c.dir, "fonts.conf")
	text := fmt.Sprintf(`<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>%s</dir><cachedir>%s</cachedir>
<alias><family>sans-serif</family><prefer><family>DejaVu Sans</family></prefer></alias>
<alias><family>system-ui</family><prefer><family>DejaVu Sans</family></prefer></alias>
<alias><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias></fontconfig>
`, filepath.Join(root, "usr/share/fonts"), filepath.Join(c.dir, "fonts"))
	if err := os.WriteFile(fonts, []byte(text), 0o644); err != nil {
		return b, fmt.Errorf("configure fonts: %w", err)
	}
	var libs []string
	for _, pattern := range []string{"usr/lib/*-linux-gnu", "lib/*-linux-gnu", "usr/lib/*-linux-gnu/pulseaudio"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return b, err
		}
		libs = append(libs, found...)
	}
	if len(libs) == 0 {
		return b, errors.New("the packages of Chromium hold no libraries")
	}
	b.Env = []string{"LD_LIBRARY_PATH=" + strings.Join(libs, ":"), "FONTCONFIG_FILE=" + fonts}
	return b, nil
}
