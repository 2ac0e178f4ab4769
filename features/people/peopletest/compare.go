package peopletest

import (
	"context"
	"slices"

	"pgregory.net/rapid"

	"leaderboard/features/people"
	"leaderboard/internal/names"
	"leaderboard/leaderboard"
)

// CompareFound returns the Compare of a storetest.Subject. It gives a member a name, then searches the members of a period by
// their shown names: the search finds exactly the members of the ranking. The store knows the names, since members of earlier
// histories may have names too.
func CompareFound(s Profiles) func(ctx context.Context, t *rapid.T, ref leaderboard.PeriodRef, ranking []string) {
	return func(ctx context.Context, t *rapid.T, ref leaderboard.PeriodRef, ranking []string) {
		given := people.Profile{
			Member:      rapid.SampledFrom(append([]string{"a", "A", "m1", "m2"}, ranking...)).Draw(t, "named"),
			DisplayName: rapid.SampledFrom([]string{"", "Ada", "Émile Ada", "Émile", "m"}).Draw(t, "name"),
		}
		if _, _, err := s.PutProfile(ctx, given); err != nil {
			t.Fatal(err)
		}
		q := people.ShownQuery{Period: ref.ID, Prefix: rapid.SampledFrom([]string{"", "a", "m", "ADA", "e"}).Draw(t, "begins with"), Limit: rapid.IntRange(1, 20).Draw(t, "found at once")}
		want := searched(ctx, t, s, q.Prefix, ranking)
		var got []names.Name
		for {
			found, err := s.FindMembers(ctx, q)
			if err != nil || found.Partial {
				t.Fatalf("find %+v: %+v, %v", q, found, err)
			}
			for _, m := range found.Members {
				got, q.After = append(got, m), m
			}
			if len(found.Members) < q.Limit {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q finds %q, want %q", q.Prefix, got, want)
		}
	}
}

// searched returns the members whose shown names have a word that begins with a prefix.
func searched(ctx context.Context, t *rapid.T, s Profiles, prefix string, members []string) []names.Name {
	profiles, err := s.Profiles(ctx, members)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{}
	for i := range profiles {
		named[profiles[i].Member] = names.Fold(profiles[i].DisplayName)
	}
	search := names.NewSearch(prefix, false, names.Name{}, len(members))
	for _, m := range members {
		search.Add(names.Name{Folded: named[m], Member: m})
	}
	return search.Found()
}
