package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestHelpInGroups: help of many commands or options is in groups, those first that somebody needs who is new.
func TestHelpInGroups(t *testing.T) {
	t.Parallel()
	title := regexp.MustCompile(`(?m)^(\S.*):$`)
	titles := func(args ...string) (out []string, text string) {
		status, text, errOut := runWith(t, nil, args...)
		if status != exitOK || errOut != "" {
			t.Errorf("%q: status %d, %s", args, status, errOut)
		}
		for _, m := range title.FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
		return out, text
	}
	want := []string{"Start here", "Scores", "Boards", "Members", "Run it", "Data", "Options"}
	if got, _ := titles(); !slices.Equal(got, want) {
		t.Errorf("leaderboard alone has %q, want %q", got, want)
	}
	want = []string{mainSection}
	for _, s := range sectionsOfServers() {
		want = append(want, s.title)
	}
	got, text := titles("serve", "--help")
	if want = append(want, "Other options"); !slices.Equal(got, want) {
		t.Errorf("serve --help has %q, want %q", got, want)
	}
	first, _, _ := strings.Cut(text, want[1]+":")
	if n := strings.Count(first, "\n  --"); n != 10 {
		t.Errorf("serve --help begins with %d options, want ten:\n%s", n, first)
	}
	if got, _ := titles("version", "--help"); !slices.Equal(got, []string{"Options"}) {
		t.Errorf("help of few options has %q", got)
	}
}
