// Package peopletest holds what proves features/people: a model of its store, the suite that the model and every store pass, and a
// comparison for the histories of storetest.
package peopletest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"leaderboard/features/people"
	"leaderboard/internal/names"
	"leaderboard/leaderboard"
	"leaderboard/store/storetest"
)

// Profiles is people.Store, or its model.
type Profiles interface {
	people.People
	Profiles(ctx context.Context, members []string) ([]people.Profile, error)
}

// Subject is a store with profiles.
type Subject interface {
	storetest.Database
	Profiles
}

// Run runs the suite of profiles and searches for members.
func Run(t *testing.T, s Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"profiles": testProfiles, "profiles in part": testPatchProfiles, "names that are taken away": testResetNames,
		"search of members": testSearchMembers, "search on a board": testFindMembers, "forget": testForget,
	} {
		t.Run(name, func(t *testing.T) { test(t, s) })
	}
}

// board is a board of one test, with one of its periods.
type board struct {
	Subject
	t   *testing.T
	ref leaderboard.PeriodRef
}

func newBoard(t *testing.T, s Subject, name string, rules leaderboard.Rules) *board {
	t.Helper()
	b, _, err := s.PutBoard(t.Context(), name, rules)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.CurrentPeriod(t.Context(), b, leaderboard.WindowAllTime)
	if err != nil {
		t.Fatal(err)
	}
	return &board{s, t, p.Ref(&b)}
}

// submit gives members an entry.
func (b *board) submit(members ...string) {
	b.t.Helper()
	r := leaderboard.SubmitRequest{Board: b.ref.Board}
	for _, member := range members {
		r.Entries = append(r.Entries, leaderboard.Submission{Member: member, Score: 1})
	}
	if _, err := b.Submit(b.t.Context(), r); err != nil {
		b.t.Fatal(err)
	}
}

func (b *board) hide(member string) {
	b.t.Helper()
	if _, err := b.Hide(b.t.Context(), leaderboard.HideRequest{Board: b.ref.Board, Member: member, Reason: "bot"}); err != nil {
		b.t.Fatal(err)
	}
}

func testProfiles(t *testing.T, s Subject) {
	ctx := t.Context()
	own := func(name string) string { return "profiles-" + name } // other tests have other members
	if _, err := s.Profile(ctx, own("a")); !errors.Is(err, leaderboard.ErrProfileNotFound) {
		t.Fatalf("a profile that was never put: %v", err)
	}
	first := people.Profile{Member: own("a"), DisplayName: "Ada \U0001F600", AvatarURL: "https://example.org/a?b=c", Attributes: `{"country":"DE","level":7}`}
	put, created, err := s.PutProfile(ctx, first)
	if err != nil || !created || put.UpdatedTime == 0 {
		t.Fatalf("put: %+v, created %t, %v", put, created, err)
	}
	first.UpdatedTime = put.UpdatedTime
	again, created, err := s.PutProfile(ctx, first)
	if err != nil || created || again != first || put != first {
		t.Errorf("the same once more: %+v, created %t, %v\nfirst %+v", again, created, err, put)
	}
	for _, change := range []func(*people.Profile){
		func(p *people.Profile) { p.DisplayName = "ada" },
		func(p *people.Profile) { p.DisplayName = "Ada" }, // differs in case only
		func(p *people.Profile) { p.AvatarURL = "" },
		func(p *people.Profile) { p.Attributes = people.NoAttributes },
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
	for _, bad := range []people.Profile{
		{Member: ""}, {Member: own("b"), DisplayName: strings.Repeat("x", 101)}, {Member: own("b"), AvatarURL: "ftp://example.org/"},
	} {
		var rule *leaderboard.RuleError
		if _, _, err := s.PutProfile(ctx, bad); !errors.As(err, &rule) {
			t.Errorf("put %+v: %v", bad, err)
		}
	}
}

// testPatchProfiles: a change of a part leaves the rest, and many parts that change at the same time are all kept.
func testPatchProfiles(t *testing.T, s Subject) {
	ctx, member := t.Context(), "patched-m"
	text := func(v string) *string { return &v }
	want := people.Profile{Member: member, Attributes: people.NoAttributes}
	for i, c := range []struct {
		change people.ProfilePatch
		result func(*people.Profile)
	}{
		{people.ProfilePatch{DisplayName: text("Ada")}, func(p *people.Profile) { p.DisplayName = "Ada" }},
		{people.ProfilePatch{AvatarURL: text("https://example.org/a")}, func(p *people.Profile) { p.AvatarURL = "https://example.org/a" }},
		{people.ProfilePatch{Attributes: []byte(`{"b":1,"a":"x"}`)}, func(p *people.Profile) { p.Attributes = `{"a":"x","b":1}` }},
		{people.ProfilePatch{Attributes: []byte(`{"a":null,"c":true,"none":null}`)}, func(p *people.Profile) { p.Attributes = `{"b":1,"c":true}` }},
		{people.ProfilePatch{}, func(*people.Profile) {}},
		{people.ProfilePatch{DisplayName: text(""), Attributes: []byte("null")}, func(p *people.Profile) {
			p.DisplayName, p.Attributes = "", people.NoAttributes
		}},
	} {
		before := want
		c.result(&want)
		got, created, err := s.PatchProfile(ctx, member, c.change)
		if err != nil || created != (i == 0) || got.UpdatedTime == 0 || got.UpdatedTime < before.UpdatedTime || want == before && got != before {
			t.Errorf("change %d: %+v, created %t, %v; before %+v", i, got, created, err, before)
		}
		if want.UpdatedTime = got.UpdatedTime; got != want {
			t.Errorf("change %d: %+v, want %+v", i, got, want)
		}
		if again, err := s.Profile(ctx, member); err != nil || again != want {
			t.Errorf("after change %d: %+v, %v; want %+v", i, again, err, want)
		}
	}
	for _, bad := range []people.ProfilePatch{{AvatarURL: text("ftp://x/")}, {Attributes: []byte(`{"a":{"b":1}}`)}, {Attributes: []byte(`[]`)}} {
		if _, _, err := s.PatchProfile(ctx, member+"2", bad); leaderboard.AsRule(err) == nil {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if _, err := s.Profile(ctx, member+"2"); !errors.Is(err, leaderboard.ErrProfileNotFound) {
		t.Errorf("a bad change made a profile: %v", err)
	}
	var all sync.WaitGroup
	for i := range 12 {
		all.Go(func() {
			name := fmt.Sprint("k", i)
			if _, _, err := s.PatchProfile(ctx, member+"3", people.ProfilePatch{Attributes: []byte(`{"` + name + `":1}`)}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := s.Profile(ctx, member+"3"); err != nil || strings.Count(string(got.Attributes), ":1") != 12 {
		t.Errorf("after 12 changes at the same time: %+v, %v", got, err)
	}
	var many []string
	for i := range people.MaxAttributes - 12 {
		many = append(many, fmt.Sprintf(`"x%d":2`, i))
	}
	change := people.ProfilePatch{Attributes: []byte("{" + strings.Join(many, ",") + "}")}
	if _, _, err := s.PatchProfile(ctx, member+"3", change); err != nil {
		t.Errorf("the last attributes that fit: %v", err)
	}
	if _, _, err := s.PatchProfile(ctx, member+"3", people.ProfilePatch{Attributes: []byte(`{"more":1}`)}); leaderboard.AsRule(err) == nil {
		t.Errorf("one attribute more than fit together: %v", err)
	}
}

// testResetNames: a name that was taken away is not given again, in whatever case, unless by an admin; another one is.
func testResetNames(t *testing.T, s Subject) {
	own, ctx := func(name string) string { return "reset-" + name }, t.Context()
	admin := leaderboard.WithCaller(ctx, leaderboard.Caller{Key: "kadmin", Admin: true})
	reset := people.NameReset{Member: own("m"), Reason: "a slur", Actor: "boss"}
	if _, err := s.ResetName(ctx, reset); !errors.Is(err, leaderboard.ErrProfileNotFound) {
		t.Errorf("of a member without a profile: %v", err)
	}
	put := func(ctx context.Context, name string) error {
		_, _, err := s.PutProfile(ctx, people.Profile{Member: own("m"), DisplayName: name, Attributes: `{"level":7}`})
		return err
	}
	refused := func(err error) bool {
		broken := leaderboard.AsRule(err)
		return broken != nil && broken.Code == leaderboard.CodeNameReset
	}
	var names []string
	for i := range people.MaxResetNames + 1 {
		names = append([]string{fmt.Sprint("Bad ", i)}, names...)
		if err := put(ctx, names[0]); err != nil {
			t.Fatal(err)
		}
		before, err := s.Profile(ctx, own("m"))
		if err != nil {
			t.Fatal(err)
		}
		waitPast(t, s, before.UpdatedTime)
		p, err := s.ResetName(ctx, reset)
		want := before
		want.DisplayName, want.ResetNames, want.UpdatedTime = "", strings.Join(names[:min(len(names), people.MaxResetNames)], "\n"), p.UpdatedTime
		if err != nil || p != want || p.UpdatedTime <= before.UpdatedTime {
			t.Fatalf("%+v, %v, want %+v", p, err, want)
		}
		if again, err := s.ResetName(ctx, reset); err != nil || again != p {
			t.Errorf("once more: %+v, %v", again, err)
		}
		if got, err := s.Profile(ctx, own("m")); err != nil || got != p {
			t.Errorf("%+v is stored, %v", got, err)
		}
	}
	for _, name := range []string{names[0], "BAD 10", "bad 1"} {
		text := name
		if err := put(ctx, name); !refused(err) {
			t.Errorf("%s is given again: %v", name, err)
		}
		if _, _, err := s.PatchProfile(ctx, own("m"), people.ProfilePatch{DisplayName: &text}); !refused(err) {
			t.Errorf("%s is given again by a patch: %v", name, err)
		}
	}
	if _, _, err := s.PatchProfile(ctx, own("m"), people.ProfilePatch{Attributes: []byte(`{"level":8}`)}); err != nil {
		t.Errorf("the rest of the profile: %v", err)
	}
	for _, name := range []string{"Good", "Bad 0", "Bad"} { // the second is forgotten
		if err := put(ctx, name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := put(admin, "bad 5"); err != nil {
		t.Errorf("an admin gives a name back: %v", err)
	}
	if p, err := s.Profile(ctx, own("m")); err != nil || p.DisplayName != "bad 5" || strings.Contains(p.ResetNames, "5") || strings.Count(p.ResetNames, "\n") != 8 {
		t.Errorf("%+v, %v", p, err)
	}
	if err := errors.Join(put(ctx, "Good"), put(ctx, "Bad 5")); err != nil {
		t.Errorf("a name that was given back: %v", err)
	}
	for _, bad := range []people.NameReset{{Member: own("m")}, {Member: own("m"), Reason: strings.Repeat("x", 201)}, {Reason: "x"}, {Member: own("m"), Reason: "x", Actor: "\xff"}} {
		if _, err := s.ResetName(ctx, bad); leaderboard.AsRule(err) == nil {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

// waitPast waits until the database clock is past a time.
func waitPast(t *testing.T, s Subject, past leaderboard.Micros) {
	t.Helper()
	for now := past; now <= past; {
		var err error
		if now, err = s.Now(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// testProfilesOf asks for many profiles at once: the answer has each stored profile unchanged, and no others.
func testProfilesOf(t *testing.T, s Subject, own func(string) string) {
	t.Helper()
	want := map[string]people.Profile{}
	var members []string
	for i := range 1300 {
		members = append(members, own(fmt.Sprint("p", i)))
		if i%100 == 0 {
			p, _, err := s.PutProfile(t.Context(), people.Profile{Member: members[i], DisplayName: fmt.Sprint(i)})
			if err != nil || p.Attributes != people.NoAttributes {
				t.Fatalf("put: %+v, %v", p, err)
			}
			want[p.Member] = p
		}
	}
	got, err := s.Profiles(t.Context(), members)
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %d of %d profiles, %v", len(got), len(want), err)
	}
	slices.SortFunc(got, func(a, b people.Profile) int { return cmp.Compare(a.Member, b.Member) })
	for _, p := range got {
		if p != want[p.Member] {
			t.Errorf("got %+v, want %+v", p, want[p.Member])
		}
	}
	if got, err := s.Profiles(t.Context(), nil); err != nil || len(got) != 0 {
		t.Errorf("no profiles: %v, %v", got, err)
	}
}

// testSearchMembers: by name, in any case, members with a name; by id also members that are hidden or only play.
func testSearchMembers(t *testing.T, s Subject) {
	ctx, own := t.Context(), "searched" // other tests have other members
	b := newBoard(t, s, "search", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}})
	b.submit(own+"-3-plays", own+"-4-hidden", own+"-1-both")
	b.hide(own + "-4-hidden")
	mark := "searching"
	for id, name := range map[string]string{
		"-1-both": mark + " Émile", "-2-named": mark + " ÉMILIE", "-0-k": mark + " \u212aelvin", "-5-same": mark + " émile", "-6-none": "", "-7-e": mark + " Emile",
	} {
		if _, _, err := s.PutProfile(ctx, people.Profile{Member: own + id, DisplayName: name}); err != nil {
			t.Fatal(err)
		}
	}
	found := func(q people.MemberQuery) (all []string) {
		t.Helper()
		for q.Limit = 2; ; {
			page, err := s.SearchMembers(ctx, q)
			if err != nil || len(page.Members) > q.Limit {
				t.Fatalf("%d members, %v", len(page.Members), err)
			}
			for _, m := range page.Members {
				all = append(all, strings.TrimPrefix(m.Member, own))
				if (m.Profile != nil) != slices.Contains([]string{"-0-k", "-1-both", "-2-named", "-5-same", "-6-none", "-7-e"}, strings.TrimPrefix(m.Member, own)) {
					t.Errorf("%s has profile %v", m.Member, m.Profile)
				}
			}
			if len(page.Members) < q.Limit {
				return all
			}
			last := &page.Members[q.Limit-1]
			if q.AfterMember = last.Member; q.ByName {
				q.AfterName = names.Fold(last.Profile.DisplayName)
			}
		}
	}
	for _, c := range []struct {
		q    people.MemberQuery
		want string
	}{
		{people.MemberQuery{Prefix: own + "-"}, "-0-k -1-both -2-named -3-plays -4-hidden -5-same -6-none -7-e"},
		{people.MemberQuery{Prefix: own + "-3-pl"}, "-3-plays"},
		{people.MemberQuery{Prefix: own + "-3-PL"}, ""},
		{people.MemberQuery{Prefix: own + "-9"}, ""},
		{people.MemberQuery{ByName: true, Prefix: mark + " éMIL"}, "-1-both -5-same -2-named"},
		{people.MemberQuery{ByName: true, Prefix: strings.ToUpper(mark) + " emile"}, "-7-e"},
		{people.MemberQuery{ByName: true, Prefix: mark + " kel"}, "-0-k"},
		{people.MemberQuery{ByName: true, Prefix: mark}, "-7-e -0-k -1-both -5-same -2-named"},
	} {
		if got := strings.Join(found(c.q), " "); got != c.want {
			t.Errorf("%+v: %s, want %s", c.q, got, c.want)
		}
	}
	if _, _, err := s.PatchProfile(ctx, own+"-7-e", people.ProfilePatch{DisplayName: new(string)}); err != nil {
		t.Fatal(err)
	}
	if got := found(people.MemberQuery{ByName: true, Prefix: mark + " emile"}); got != nil {
		t.Errorf("after the name was taken away: %v", got)
	}
}

// testFindMembers: a search on a board finds members with a visible entry by their shown names, page by page: by display names in
// any case, and by id without a display name. It does not find members that are hidden, erased or elsewhere.
func testFindMembers(t *testing.T, s Subject) {
	ctx, own := t.Context(), "found" // other tests have other members
	b := newBoard(t, s, "find", leaderboard.Rules{Windows: []leaderboard.Window{leaderboard.WindowAllTime, leaderboard.WindowDay}})
	other := newBoard(t, s, "find-2", leaderboard.Rules{})
	mark := "finding"
	for id, name := range map[string]string{"-1": mark + " Émile", "-2": mark + " ÉMILIE", "-3": mark + " émile", "-4": mark + " Émile", "-5": mark + " émile", "-6": mark + " émile", "-7": ""} {
		if _, _, err := s.PutProfile(ctx, people.Profile{Member: own + id, DisplayName: name}); err != nil {
			t.Fatal(err)
		}
		if id != "-4" {
			b.submit(own + id)
		}
	}
	b.submit(own+"-8", own+"-9-hidden")
	other.submit(own+"-4", own+"-5", own+"-9-other")
	b.hide(own + "-5")
	b.hide(own + "-9-hidden")
	if f, err := s.Forget(ctx, own+"-6", "boss"); err != nil || !f.Done {
		t.Fatalf("%+v, %v", f, err)
	}
	for _, c := range []struct{ prefix, want string }{
		{mark + " éMIL", "-1 -3 -2"},
		{mark + " émile", "-1 -3"},
		{mark + " emile", "-1 -3"},
		{"emile", "-1 -3"},
		{own + "-", "-7 -8"},
		{own + "-8", "-8"},
		{own + "-9", ""},
		{own + "-1", ""},
	} {
		for limit := 1; limit <= 4; limit++ {
			q := people.ShownQuery{Period: b.ref.ID, Prefix: c.prefix, Limit: limit}
			var all []string
			for {
				page, err := s.FindMembers(ctx, q)
				if err != nil || page.Partial || len(page.Members) > limit {
					t.Fatalf("%+v: %+v, %v", q, page, err)
				}
				for _, m := range page.Members {
					all, q.After = append(all, strings.TrimPrefix(m.Member, own)), m
				}
				if len(page.Members) < limit {
					break
				}
			}
			if got := strings.Join(all, " "); got != c.want {
				t.Errorf("%q, %d at a time: %s, want %s", c.prefix, limit, got, c.want)
			}
		}
	}
	if page, err := s.FindMembers(ctx, people.ShownQuery{Period: other.ref.ID, Prefix: mark, Limit: 9}); err != nil || len(page.Members) != 2 {
		t.Errorf("on the other board: %+v, %v", page, err)
	}
	if page, err := s.FindMembers(ctx, people.ShownQuery{Prefix: mark, Limit: 9}); err != nil || len(page.Members) != 0 {
		t.Errorf("in a period without a row: %+v, %v", page, err)
	}
}

// testForget: an erasure deletes the profile of its member, and no other.
func testForget(t *testing.T, s Subject) {
	ctx, gone, stays := t.Context(), "forgotten-gone", "forgotten-stays"
	for _, member := range []string{gone, stays} {
		if _, _, err := s.PutProfile(ctx, people.Profile{Member: member, DisplayName: member}); err != nil {
			t.Fatal(err)
		}
	}
	if f, err := s.Forget(ctx, gone, "boss"); err != nil || !f.Done {
		t.Fatalf("%+v, %v", f, err)
	}
	if _, err := s.Profile(ctx, gone); !errors.Is(err, leaderboard.ErrProfileNotFound) {
		t.Errorf("the profile is left: %v", err)
	}
	if _, err := s.Profile(ctx, stays); err != nil {
		t.Errorf("the profile of another member: %v", err)
	}
}
