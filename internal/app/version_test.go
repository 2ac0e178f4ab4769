package app

import (
	"runtime/debug"
	"testing"
)

func TestBuildInfo(t *testing.T) {
	t.Parallel()
	vcs := func(modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.modified", Value: modified}, {Key: "vcs.revision", Value: "0123abc"}}
	}
	for name, c := range map[string]struct {
		version, commit string // of the linker
		build           debug.BuildInfo
		want            string
	}{
		"nothing known": {build: debug.BuildInfo{}, want: "(devel), go1"},
		"go install":    {build: debug.BuildInfo{Main: debug.Module{Version: "v0.1.0"}}, want: "v0.1.0, go1"},
		"a checkout": {
			build: debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-2026-0123abc"}, Settings: vcs("false")},
			want:  "v0.0.0-2026-0123abc (0123abc), go1",
		},
		"with changes": {build: debug.BuildInfo{Settings: vcs("true")}, want: "(devel) (0123abc-dirty), go1"},
		"the image":    {version: "v0.1.0", commit: "fedc", build: debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, want: "v0.1.0 (fedc), go1"},
		"make build": {
			version: "v0.1.0-3-g0123", commit: "0123", build: debug.BuildInfo{Main: debug.Module{Version: "v0.1.1-0.2026"}, Settings: vcs("true")},
			want: "v0.1.0-3-g0123 (0123), go1",
		},
	} {
		c.build.GoVersion = "go1"
		if got := buildInfo(&c.build, c.version, c.commit).String(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
