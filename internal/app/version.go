package app

import (
	"cmp"
	"runtime/debug"
)

// version and commit are set by the linker (-X, see Makefile and Dockerfile) and by nothing else. If they are empty, the
// toolchain's record counts: the version that go install was given, and the commit of a checkout.
var version, commit string

// BuildInfo describes what this program was built from.
type BuildInfo struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"` // of the sources, with -dirty when they had changes
	Go      string `json:"go"`
}

// ReadBuildInfo returns the BuildInfo of this program.
func ReadBuildInfo() BuildInfo {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		build = &debug.BuildInfo{}
	}
	return buildInfo(build, version, commit)
}

func buildInfo(build *debug.BuildInfo, version, commit string) BuildInfo {
	settings := map[string]string{}
	for _, s := range build.Settings {
		settings[s.Key] = s.Value
	}
	noted := settings["vcs.revision"]
	if noted != "" && settings["vcs.modified"] == "true" {
		noted += "-dirty"
	}
	return BuildInfo{
		Version: cmp.Or(version, build.Main.Version, "(devel)"),
		Commit:  cmp.Or(commit, noted),
		Go:      build.GoVersion,
	}
}

// String returns the build on one line: v0.1.0 (0123abc), go1.26.0.
func (b BuildInfo) String() string {
	if b.Commit == "" {
		return b.Version + ", " + b.Go
	}
	return b.Version + " (" + b.Commit + "), " + b.Go
}
