package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"leaderboard"
)

func testProfiles(t *testing.T, s Truth) {
	ctx := t.Context()
	own := func(name string) string { return boardName(t)[2:20] + name } // other tests have members of their own
	if _, err := s.Profile(ctx, own("a")); !errors.Is(err, leaderboard.ErrProfileNotFound) {
		t.Fatalf("a profile that nobody put: %v", err)
	}
	first := leaderboard.Profile{Member: own("a"), DisplayName: "Ada \U0001F600", AvatarURL: "https://example.org/a?b=c", Attributes: `{"country":"DE","level":7}`}
	put, created, err := s.PutProfile(ctx, first)
	if err != nil || !created || put.UpdatedTime == 0 {
		t.Fatalf("put: %+v, created %t, %v", put, created, err)
	}
	first.UpdatedTime = put.UpdatedTime
	again, created, err := s.PutProfile(ctx, first)
	if err != nil || created || again != first || put != first {
		t.Errorf("the same once more: %+v, created %t, %v\nfirst %+v", again, created, err, put)
	}
	for _, change := range []func(*leaderboard.Profile){
		func(p *leaderboard.Profile) { p.DisplayName = "ada" },
		func(p *leaderboard.Profile) { p.DisplayName = "Ada" }, // differs in case only
		func(p *leaderboard.Profile) { p.AvatarURL = "" },
		func(p *leaderboard.Profile) { p.Attributes = leaderboard.NoAttributes },
	} {
		next := again
		change(&next)
		next.UpdatedTime = 0
		got, created, err := s.PutProfile(ctx, next)
		if next.UpdatedTime = got.UpdatedTime; err != nil || created || got != next || got.UpdatedTime < again.UpdatedTime {
			t.Errorf("put %+v: %+v, created %t, %v", next, got, created, err)
		}
		if again, err = s.Profile(ctx, next.Member); err != nil || again != got {
			t.Errorf("profile: %+v, %v; want %+v", again, err, got)
		}
	}
	testProfilesOf(t, s, own)
	for _, bad := range []leaderboard.Profile{
		{Member: ""}, {Member: own("b"), DisplayName: strings.Repeat("x", 101)}, {Member: own("b"), AvatarURL: "ftp://example.org/"},
	} {
		var rule *leaderboard.RuleError
		if _, _, err := s.PutProfile(ctx, bad); !errors.As(err, &rule) {
			t.Errorf("put %+v: %v", bad, err)
		}
	}
}

// testProfilesOf asks for many at once: those that there are come back, each as it was put.
func testProfilesOf(t *testing.T, s Truth, own func(string) string) {
	t.Helper()
	want := map[string]leaderboard.Profile{}
	var members []string
	for i := range 1300 {
		members = append(members, own(fmt.Sprint("p", i)))
		if i%100 == 0 {
			p, _, err := s.PutProfile(t.Context(), leaderboard.Profile{Member: members[i], DisplayName: fmt.Sprint(i)})
			if err != nil || p.Attributes != leaderboard.NoAttributes {
				t.Fatalf("put: %+v, %v", p, err)
			}
			want[p.Member] = p
		}
	}
	got, err := s.Profiles(t.Context(), members)
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %d of %d profiles, %v", len(got), len(want), err)
	}
	slices.SortFunc(got, func(a, b leaderboard.Profile) int { return cmp.Compare(a.Member, b.Member) })
	for _, p := range got {
		if p != want[p.Member] {
			t.Errorf("got %+v, want %+v", p, want[p.Member])
		}
	}
	if got, err := s.Profiles(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("the profiles of nobody: %v, %v", got, err)
	}
}
