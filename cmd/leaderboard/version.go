package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
)

// buildInfo says what this program was built from.
type buildInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the sources, with -dirty when they had changes
	Go       string `json:"go"`
}

func readBuildInfo() buildInfo {
	info := buildInfo{Version: "(devel)", Go: runtime.Version()}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	if build.Main.Version != "" {
		info.Version = build.Main.Version
	}
	for _, s := range build.Settings {
		switch {
		case s.Key == "vcs.revision":
			info.Revision = s.Value + info.Revision
		case s.Key == "vcs.modified" && s.Value == "true":
			info.Revision += "-dirty"
		}
	}
	return info
}

func (p *program) version(_ context.Context, cfg config, _ []string) error {
	info := readBuildInfo()
	if cfg.json {
		return printJSON(p.out, info)
	}
	line := "leaderboard " + info.Version
	if info.Revision != "" {
		line += " (" + info.Revision + ")"
	}
	_, err := fmt.Fprintf(p.out, "%s, %s\n", line, info.Go)
	return err
}
