package app

import (
	"runtime"
	"runtime/debug"
)

// BuildInfo says what this program was built from.
type BuildInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // of the sources, with -dirty when they had changes
	Go       string `json:"go"`
}

// ReadBuildInfo returns what the toolchain noted in this program.
func ReadBuildInfo() BuildInfo {
	info := BuildInfo{Version: "(devel)", Go: runtime.Version()}
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
