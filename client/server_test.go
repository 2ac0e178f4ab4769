package client_test

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"iter"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// TestEveryRoute calls every operation of the API's document against a real server, each through its own method.
func TestEveryRoute(t *testing.T) {
	t.Parallel()
	c := admin(t)
	covered := map[string]bool{}
	for _, part := range []func(*testing.T, *client.Client) []string{boardsPart, submitPart, readPart, watchPart, changesPart, keysPart, playersPart, endpointsPart, combinedPart, membersPart, hiddenPart, heldPart, operatePart, exportPart, healthPart} {
		for _, operation := range part(t, c) {
			covered[operation] = true
		}
	}
	for _, page := range []string{"getDocs", "getManualPage", "getProblemPage", "getHome", "getBoardPage", "getBoardPicture", "getConsole", "getAsset", "getOpenAPIYAML", "getSession", "keepKey", "endSession", "beginSignIn", "finishSignIn"} { // for people, in a browser
		covered[page] = true
	}
	for _, event := range []string{"periodClosedEvent", "boardChangedEvent", "memberHiddenEvent", "memberRestoredEvent", "memberErasedEvent", "memberPassedEvent", "submissionHeldEvent", "submissionApprovedEvent", "submissionRejectedEvent"} { // which the server sends
		covered[event] = true
	}
	document, err := os.ReadFile("../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	operations := regexp.MustCompile(`operationId: (\w+)`).FindAllStringSubmatch(string(document), -1)
	if len(operations) < 30 {
		t.Fatalf("the document has %d operations, the search is broken", len(operations))
	}
	for _, operation := range operations {
		if !covered[operation[1]] {
			t.Errorf("no method of the client was called for operation %s", operation[1])
		}
	}
}

// must fails the test for an error.
func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// all reads an iterator to its end.
func all[T any](t *testing.T, seq iter.Seq2[T, error]) (out []T) {
	t.Helper()
	for v, err := range seq {
		must(t, err)
		out = append(out, v)
	}
	return out
}

func members(entries []client.Entry) (out []string) {
	for _, e := range entries {
		out = append(out, e.Member)
	}
	return out
}

// makeBoard makes a board of ada 30, bob 20, cid 10, and returns the seq after them.
func makeBoard(t *testing.T, c *client.Client, board string, rules leaderboard.Rules) int64 {
	t.Helper()
	_, created, err := c.PutBoard(t.Context(), board, rules)
	must(t, err)
	if !created {
		t.Fatalf("board %s was there", board)
	}
	r, err := c.Submit(t.Context(), board, []leaderboard.Submission{{Member: "cid", Score: 10}, {Member: "bob", Score: 20}, {Member: "ada", Score: 30}})
	must(t, err)
	return r.Seq
}

// patchPart changes a board twice at the same time, from the same ETag: one of the changes fails.
func patchPart(t *testing.T, c *client.Client, b *client.Board) {
	var errs [2]error
	var both sync.WaitGroup
	for i := range errs {
		both.Go(func() {
			_, errs[i] = c.PatchBoard(t.Context(), b.Name, map[string]any{"top_n": 10 + i, "limits": map[string]any{"max_score": nil}}, b.ETag)
		})
	}
	both.Wait()
	var problem *client.Problem
	late := errors.Join(errs[0], errs[1])
	if (errs[0] == nil) == (errs[1] == nil) || !errors.As(late, &problem) || problem.Code() != "precondition-failed" {
		t.Errorf("of two changes of one state: %v, %v", errs[0], errs[1])
	}
	got, err := c.PatchBoard(t.Context(), b.Name, map[string]any{"top_n": nil}, "")
	must(t, err)
	if got.Title != b.Title || got.TopN != leaderboard.DefaultTopN || got.Limits.MaxScore != nil || got.ETag == b.ETag {
		t.Errorf("patched: %+v", got)
	}
}

func boardsPart(t *testing.T, c *client.Client) []string {
	ctx := t.Context()
	limit := int64(1 << 62)
	rules := leaderboard.Rules{
		Title: "Boards", Windows: []leaderboard.Window{"day", "all_time"}, Labels: leaderboard.Labels{"part": "boards"},
		Limits: leaderboard.Limits{MaxScore: &limit},
	}
	b, created, err := c.PutBoard(ctx, "boards-1", rules)
	must(t, err)
	if !created || b.Name != "boards-1" || *b.Limits.MaxScore != limit || b.TopN != leaderboard.DefaultTopN || b.CreatedTime.IsZero() {
		t.Errorf("put: %v, %+v", created, b)
	}
	again, created, err := c.PutBoard(ctx, "boards-1", b.Rules)
	must(t, err)
	got, err := c.Board(ctx, "boards-1")
	must(t, err)
	if created || !again.UpdatedTime.Equal(b.UpdatedTime) || got.Title != "Boards" {
		t.Errorf("put again: %v, %+v; got %+v", created, again, got)
	}
	if got.ETag == "" || got.ETag != b.ETag || again.ETag != b.ETag {
		t.Errorf("the board has the tags %s, %s and %s", b.ETag, again.ETag, got.ETag)
	}
	patchPart(t, c, &got)
	if list := all(t, c.Boards(ctx, rules.Labels)); len(list) != 1 || list[0].Name != "boards-1" {
		t.Errorf("boards: %+v", list)
	}
	if periods := all(t, c.Periods(ctx, "boards-1", "")); len(periods) != 2 || periods[0].State != "open" {
		t.Errorf("periods: %+v", periods)
	}
	_, _, err = c.PutBoard(ctx, "boards-sum", leaderboard.Rules{Derive: &leaderboard.Derive{From: []leaderboard.DeriveFrom{{Board: "boards-1"}}}})
	must(t, err)
	d, err := c.Sources(ctx, "boards-sum")
	must(t, err)
	if len(d.Sources) != 1 || d.Sources[0].Board != "boards-1" || d.Sources[0].Window != "day" || d.Sources[0].Condition != client.SourceConditionEmpty {
		t.Errorf("sources: %+v", d)
	}
	if _, err := c.Sources(ctx, "boards-1"); !errors.Is(err, leaderboard.ErrNotDerived) {
		t.Errorf("sources of a board that is not derived: %v", err)
	}
	must(t, c.DeleteBoard(ctx, "boards-sum"), c.DeleteBoard(ctx, "boards-1"))
	var problem *client.Problem
	if _, err := c.Board(ctx, "boards-1"); !errors.Is(err, leaderboard.ErrBoardNotFound) || !errors.As(err, &problem) || problem.Status != 404 {
		t.Errorf("a deleted board: %v", err)
	}
	if _, _, err := c.PutBoard(ctx, "boards-2", leaderboard.Rules{TimeZone: "Mars"}); !errors.As(err, &problem) || len(problem.Errors) != 1 || problem.Errors[0].Pointer != "/time_zone" {
		t.Errorf("bad rules: %v", err)
	}
	return []string{"putBoard", "patchBoard", "getBoard", "listBoards", "deleteBoard", "listPeriods", "getSources"}
}

func submitPart(t *testing.T, c *client.Client) []string {
	ctx := t.Context()
	_, _, err := c.PutBoard(ctx, "submit-1", leaderboard.Rules{Policy: "sum"})
	must(t, err)
	key := client.SubmitOptions{IdempotencyKey: "submit-1"}
	for range 2 {
		r, err := c.Submit(ctx, "submit-1", []leaderboard.Submission{{Member: "m", Score: 1<<53 + 1}, {Member: strings.Repeat("x", 65), Score: 1}}, key)
		must(t, err)
		if r.Seq != 1 || *r.Results[0].Score != 1<<53+1 || r.Results[1].Status != "rejected" || r.Results[1].Error.Code() != leaderboard.CodeInvalidMember {
			t.Errorf("receipt: %+v", r)
		}
	}
	when := leaderboard.MicrosOf(time.Date(2020, 2, 29, 23, 59, 59, 999_999_000, time.UTC))
	several, err := c.SubmitMultiBoard(ctx, []leaderboard.BoardSubmission{
		{Board: "submit-1", Submission: leaderboard.Submission{Member: "n", Score: 2, CreatedTime: &when}},
		{Board: "nowhere", Submission: leaderboard.Submission{Member: "n", Score: 2}},
	})
	must(t, err)
	if several.Boards["submit-1"].Seq != 2 || !several.Results[0].CreatedTime.Equal(when.Time()) || several.Results[1].Error.Code() != leaderboard.CodeBoardNotFound {
		t.Errorf("several: %+v", several)
	}
	r, err := c.RemoveMember(ctx, "submit-1", "n", client.RemoveOptions{Window: "all_time"})
	must(t, err)
	if r.Seq != 3 {
		t.Errorf("removal: %+v", r)
	}
	if _, err := c.RemoveMember(ctx, "submit-1", "n", client.RemoveOptions{}); !errors.Is(err, leaderboard.ErrNotRanked) {
		t.Errorf("removed again: %v", err)
	}
	return []string{"submitScores", "submitMultiBoard", "removeMember"}
}

func readPart(t *testing.T, c *client.Client) []string {
	ctx := t.Context()
	seq := makeBoard(t, c, "read-1", leaderboard.Rules{})
	q := client.ReadQuery{MinSeq: seq, Mode: "tied"}
	page, err := c.Top(ctx, "read-1", client.TopQuery{ReadQuery: q, Limit: 2})
	must(t, err)
	if got := members(page.Entries); !slices.Equal(got, []string{"ada", "bob"}) || page.Seq < seq || page.Total != 3 || page.Mode != "tied" || page.NextCursor == "" {
		t.Errorf("top: %+v", page)
	}
	rest, err := c.Top(ctx, "read-1", client.TopQuery{ReadQuery: q, Cursor: page.NextCursor})
	must(t, err)
	if got := members(rest.Entries); !slices.Equal(got, []string{"cid"}) {
		t.Errorf("after the cursor: %+v", rest)
	}
	if got := members(all(t, c.Entries(ctx, "read-1", client.TopQuery{ReadQuery: q, Limit: 1, Offset: 1}))); !slices.Equal(got, []string{"bob", "cid"}) {
		t.Errorf("entries from the second on, one by one: %v", got)
	}
	one, err := c.Member(ctx, "read-1", "bob", q)
	must(t, err)
	if one.Rank != 2 || one.Score != 20 || one.Board != "read-1" || one.Percentile < 66 {
		t.Errorf("member: %+v", one)
	}
	around, err := c.Around(ctx, "read-1", "bob", 0, 1, q)
	must(t, err)
	if got := members(around.Entries); !slices.Equal(got, []string{"bob", "cid"}) {
		t.Errorf("around: %v", got)
	}
	past, err := c.History(ctx, "read-1", "bob", client.HistoryQuery{MinSeq: seq, Limit: 5})
	must(t, err)
	if len(past.Periods) != 1 || past.Periods[0].StrictRank != 2 || past.Periods[0].Score != 20 || past.Periods[0].Closed || past.NextCursor != "" {
		t.Errorf("past: %+v", past)
	}
	if got := all(t, c.Submissions(ctx, "read-1", "bob")); len(got) != 0 {
		t.Errorf("recorded without being asked to: %+v", got)
	}
	recordedPart(t, c)
	ranks, err := c.Ranks(ctx, "read-1", []string{"cid", "ada", "nobody"}, q)
	must(t, err)
	if got := members(ranks.Entries); !slices.Equal(got, []string{"ada", "cid"}) || ranks.Entries[1].Position != 2 || !slices.Equal(ranks.NotRanked, []string{"nobody"}) {
		t.Errorf("ranks: %+v", ranks)
	}
	score, err := c.ScoreRank(ctx, "read-1", client.ScoreQuery{Score: 20, MinSeq: seq})
	must(t, err)
	if score.StrictRank != 3 || score.TiedRank != 2 {
		t.Errorf("rank of a score: %+v", score)
	}
	histogram, err := c.Distribution(ctx, "read-1", 2, q)
	must(t, err)
	if len(histogram.Buckets) != 2 || histogram.Buckets[0].Count+histogram.Buckets[1].Count != 3 {
		t.Errorf("distribution: %+v", histogram)
	}
	if _, err := c.Top(ctx, "read-1", client.TopQuery{ReadQuery: client.ReadQuery{MinSeq: 1000}}); !errors.Is(err, leaderboard.ErrSeqAhead) {
		t.Errorf("a state that is not there: %v", err)
	}
	fieldsOf(t, c)
	return []string{"getTop", "getMember", "getAround", "getHistory", "listSubmissions", "getActivity", "getRace", "getRanks", "getScoreRank", "getDistribution"}
}

// recordedPart reads the activity and the race of a board with records.
func recordedPart(t *testing.T, c *client.Client) {
	ctx := t.Context()
	makeBoard(t, c, "recorded-1", leaderboard.Rules{Record: leaderboard.RecordApplied})
	activity, err := c.Activity(ctx, "recorded-1", 2)
	must(t, err)
	counted := 0
	for _, h := range activity.Hours {
		counted += h.NewMembers
	}
	if activity.Record != "applied" || len(activity.Hours) != 2 || counted != 3 || activity.Hours[0].Entries == nil || *activity.Hours[0].Entries != 3 || activity.Partial {
		t.Errorf("activity: %+v", activity)
	}
	race, err := c.Race(ctx, "recorded-1", client.RaceQuery{})
	must(t, err)
	if len(race.Moments) != leaderboard.RaceMoments || len(race.Runners) != 3 || race.Runners[1].Member != "bob" || *race.Runners[1].Places[leaderboard.RaceMoments-1] != 2 || len(race.Runners[1].Points) == 0 {
		t.Errorf("race: %+v", race)
	}
}

// fieldsOf reads tiebreak fields in the order in which they decide.
func fieldsOf(t *testing.T, c *client.Client) {
	ctx := t.Context()
	rules := leaderboard.Rules{Tiebreak: leaderboard.Tiebreak{Fields: []leaderboard.TiebreakField{{Name: "paid", Bits: 1}, {Name: "level", Bits: 20}}}}
	_, _, err := c.PutBoard(ctx, "fields-1", rules)
	must(t, err)
	r, err := c.Submit(ctx, "fields-1", []leaderboard.Submission{{Member: "m", Score: 5, Fields: map[string]int64{"level": 7, "paid": 1}}})
	must(t, err)
	one, err := c.Member(ctx, "fields-1", "m", client.ReadQuery{MinSeq: r.Seq})
	must(t, err)
	if one.Fields.String() != "paid:1,level:7" {
		t.Errorf("fields: %v", one.Fields)
	}
	score, err := c.ScoreRank(ctx, "fields-1", client.ScoreQuery{Score: 5, Fields: one.Fields, MinSeq: r.Seq})
	must(t, err)
	if score.TiedRank != 1 || score.StrictRank != 2 {
		t.Errorf("rank of a score with fields: %+v", score)
	}
}

func combinedPart(t *testing.T, c *client.Client) []string {
	ctx := t.Context()
	boards := client.BoardsQuery{Boards: []string{"combined-1", "combined-2"}, MinSeq: map[string]int64{}}
	for _, board := range boards.Boards {
		boards.MinSeq[board] = makeBoard(t, c, board, leaderboard.Rules{Labels: leaderboard.Labels{"part": "combined"}})
	}
	names := func(entries []client.CombinedEntry) (out []string) {
		for _, e := range entries {
			out = append(out, e.Board[len(e.Board)-1:]+e.Member)
		}
		return out
	}
	top, err := c.CombinedTop(ctx, boards, 3, 0, "")
	must(t, err)
	if got := names(top.Entries); !slices.Equal(got, []string{"1ada", "2ada", "1bob"}) || top.Total != 6 || len(top.Boards) != 2 {
		t.Errorf("top: %+v", top)
	}
	labelled := client.BoardsQuery{Labels: leaderboard.Labels{"part": "combined"}, MinSeq: boards.MinSeq}
	if got := names(all(t, c.CombinedEntries(ctx, labelled, 4))); !slices.Equal(got, []string{"1cid", "2cid"}) {
		t.Errorf("entries from the fifth on: %v", got)
	}
	bob, err := c.CombinedMember(ctx, "bob", boards)
	must(t, err)
	if got := names(bob.Entries); !slices.Equal(got, []string{"1bob", "2bob"}) || bob.Entries[0].Rank != 3 {
		t.Errorf("member: %+v", bob)
	}
	around, err := c.CombinedAround(ctx, "bob", 1, 0, boards)
	must(t, err)
	if got := names(around.Entries); !slices.Equal(got, []string{"2ada", "1bob"}) {
		t.Errorf("around: %v", got)
	}
	at, err := c.Standings(ctx, "bob", boards)
	must(t, err)
	if len(at.Standings) != 2 || at.Standings[1].Board != "combined-2" || at.Standings[1].Rank != 2 || at.Standings[1].Seq != boards.MinSeq["combined-2"] || len(at.NotRanked) != 0 {
		t.Errorf("standings: %+v", at)
	}
	return []string{"getMergedTop", "getMergedMember", "getMergedAround", "getStandings"}
}

func membersPart(t *testing.T, c *client.Client) []string {
	ctx := t.Context()
	seq := makeBoard(t, c, "members-1", leaderboard.Rules{})
	p, created, err := c.PutProfile(ctx, "ada", client.ProfileFields{DisplayName: "Ada L.", Attributes: map[string]any{"level": 7}})
	must(t, err)
	avatar := "https://example.org/ada.png"
	patched, made, err := c.PatchProfile(ctx, "ada", client.ProfilePatch{AvatarURL: &avatar, Attributes: map[string]any{"level": nil, "clan": "red"}})
	must(t, err)
	if made || patched.DisplayName != "Ada L." || patched.AvatarURL != avatar || string(patched.Attributes) != `{"clan":"red"}` {
		t.Errorf("changed in part: %v, %+v", made, patched)
	}
	reset, err := c.ResetName(ctx, "ada", "a slur", "ruth")
	must(t, err)
	if reset.DisplayName != "" || reset.AvatarURL != avatar || !slices.Equal(reset.ResetNames, []string{"Ada L."}) {
		t.Errorf("without its name: %+v", reset)
	}
	_, _, err = c.PutProfile(ctx, "ada", client.ProfileFields{DisplayName: "Ada L.", Attributes: map[string]any{"level": 7}})
	must(t, err)
	got, err := c.Profile(ctx, "ada")
	must(t, err)
	if !created || p.DisplayName != "Ada L." || string(got.Attributes) != `{"level":7}` {
		t.Errorf("profile: %v, %+v, %+v", created, p, got)
	}
	byID, byName := all(t, c.SearchMembers(ctx, "ad", false)), all(t, c.SearchMembers(ctx, "aDA l", true))
	for _, found := range [][]client.FoundMember{byID, byName} {
		if !slices.ContainsFunc(found, func(m client.FoundMember) bool {
			return m.Member == "ada" && m.Profile != nil && m.Profile.DisplayName == "Ada L."
		}) {
			t.Errorf("found %+v", found)
		}
	}
	onBoard, err := c.FindMembers(ctx, "members-1", client.FindQuery{ReadQuery: client.ReadQuery{MinSeq: seq, Profiles: true}, Name: "aDA l"})
	must(t, err)
	if !slices.Equal(members(onBoard.Entries), []string{"ada"}) || onBoard.Entries[0].Profile.DisplayName != "Ada L." || onBoard.Partial {
		t.Errorf("found on the board: %+v", onBoard)
	}
	if n, err := c.PutFriends(ctx, "ada", []string{"bob"}); err != nil || n != 1 {
		t.Errorf("friends: %d, %v", n, err)
	}
	if n, err := c.AddFriends(ctx, "ada", []string{"cid", "dan"}); err != nil || n != 3 {
		t.Errorf("more friends: %d, %v", n, err)
	}
	must(t, c.RemoveFriend(ctx, "ada", "dan"))
	if got := all(t, c.Friends(ctx, "ada")); !slices.Equal(got, []string{"bob", "cid"}) {
		t.Errorf("friends: %v", got)
	}
	ranks, err := c.FriendRanks(ctx, "members-1", "ada", 2, 1, client.ReadQuery{MinSeq: seq, Profiles: true})
	must(t, err)
	if got := members(ranks.Entries); !slices.Equal(got, []string{"bob", "cid"}) || ranks.Self.Position != 1 || ranks.Self.Profile.DisplayName != "Ada L." || ranks.Friends != 2 {
		t.Errorf("among friends: %+v", ranks)
	}
	data, err := c.MemberData(ctx, "ada")
	must(t, err)
	if data.Member != "ada" || data.Profile == nil || !slices.Equal(data.Friends, []string{"bob", "cid"}) || len(data.Entries) == 0 || !slices.ContainsFunc(data.Entries, func(e client.MemberDataEntry) bool { return e.Board == "members-1" && e.Score == 30 }) {
		t.Errorf("the data of a member: %+v", data)
	}
	for {
		e, err := c.ForgetMember(ctx, "ada")
		must(t, err)
		if e.Done {
			break
		}
	}
	if _, err := c.Profile(ctx, "ada"); !errors.Is(err, leaderboard.ErrProfileNotFound) {
		t.Errorf("the profile of a forgotten member: %v", err)
	}
	return []string{"getProfile", "putProfile", "resetName", "searchMembers", "findMembers", "patchProfile", "getMemberData", "forgetMember", "listFriends", "putFriends", "addFriends", "removeFriend", "getBoardFriends"}
}

func hiddenPart(t *testing.T, c *client.Client) []string {
	ctx := t.Context()
	makeBoard(t, c, "hidden-1", leaderboard.Rules{})
	h, err := c.HideMember(ctx, "hidden-1", "bob", "aimbot", client.HideOptions{Actor: "judge"})
	must(t, err)
	_, err = c.HideMember(ctx, "", "hidden-bob", "aimbot", client.HideOptions{})
	must(t, err)
	if h.Board != "hidden-1" || h.Actor != "judge" || h.HiddenAt.IsZero() {
		t.Errorf("hiding: %+v", h)
	}
	if list := all(t, c.Hidden(ctx, "hidden-1", "bob")); len(list) != 1 || list[0].Reason != "aimbot" {
		t.Errorf("hidden: %+v", list)
	}
	must(t, c.RestoreMember(ctx, "hidden-1", "bob", "appeal", client.HideOptions{}), c.RestoreMember(ctx, "", "hidden-bob", "", client.HideOptions{}))
	if err := c.RestoreMember(ctx, "hidden-1", "bob", "", client.HideOptions{}); !errors.Is(err, leaderboard.ErrNotHidden) {
		t.Errorf("restored again: %v", err)
	}
	for _, m := range []leaderboard.Moderation{{Action: leaderboard.ModerationActionHide, Reason: "bots"}, {Action: leaderboard.ModerationActionRestore}} {
		m.Members = []string{"ada", "bob"}
		everywhere, err := c.Moderate(ctx, m)
		must(t, err)
		m.Board = "hidden-1"
		on, err := c.Moderate(ctx, m)
		must(t, err)
		if on.Board != "hidden-1" || on.Members != 2 || everywhere.Board != "" || len(everywhere.Unchanged) != 0 {
			t.Errorf("moderated: %+v, %+v", on, everywhere)
		}
	}
	changes := all(t, c.Audit(ctx, client.AuditQuery{Member: "hidden-bob"}))
	if len(changes) != 2 || changes[0].Action != "member.restore" || changes[0].RequestID == "" || string(changes[1].Before) != "null" {
		t.Errorf("recorded: %+v", changes)
	}
	return []string{"hideMember", "hideMemberEverywhere", "restoreMember", "restoreMemberEverywhere", "moderateMembers", "moderateMembersEverywhere", "listHidden", "listAudit"}
}

func operatePart(t *testing.T, c *client.Client) []string {
	ctx := t.Context()
	seq := makeBoard(t, c, "operate-1", leaderboard.Rules{})
	run, finished, err := c.Rebuild(ctx, "operate-1", client.RebuildOptions{Wait: time.Minute})
	must(t, err)
	if !finished || run.Kind != "full" || run.State == "failed" {
		t.Errorf("rebuild: %v, %+v", finished, run)
	}
	got, err := c.Run(ctx, run.ID)
	must(t, err)
	runs := all(t, c.Runs(ctx, "operate-1"))
	if got.Board != "operate-1" || !slices.ContainsFunc(runs, func(r client.Run) bool { return r.ID == run.ID }) {
		t.Errorf("run: %+v, runs: %+v", got, runs)
	}
	if _, err := c.Run(ctx, 1<<60); !errors.Is(err, leaderboard.ErrRunNotFound) {
		t.Errorf("a run that is not there: %v", err)
	}
	v, err := c.Verify(ctx, "operate-1", client.VerifyQuery{})
	must(t, err)
	if !v.Equal || v.Seq < seq || v.Checked != 3 {
		t.Errorf("verify: %+v", v)
	}
	status, err := c.Status(ctx)
	must(t, err)
	at := slices.IndexFunc(status.Boards, func(b client.BoardStatus) bool { return b.Board == "operate-1" })
	if at < 0 || status.Boards[at].Entries != 3 || status.Boards[at].Seq < seq || status.Boards[at].Stale || status.Server.MySQL != "ok" {
		t.Errorf("status: %+v", status)
	}
	return []string{"startRebuild", "getRun", "listRuns", "verifyCopy", "getStatus"}
}

func exportPart(t *testing.T, c *client.Client) []string {
	ctx := t.Context()
	seq := makeBoard(t, c, "export-1", leaderboard.Rules{})
	export, err := c.Export(ctx, "export-1", client.FormatCSV, client.ExportQuery{Window: "all_time"})
	must(t, err)
	rows, err := csv.NewReader(export.Body).ReadAll()
	must(t, err, export.Body.Close())
	if len(rows) != 4 || rows[1][2] != "ada" || export.Seq != seq || export.Total != 3 || export.AsOf.IsZero() {
		t.Errorf("export: %+v, %v", export, rows)
	}
	entries := all(t, c.ExportEntries(ctx, "export-1", client.ExportQuery{}))
	if len(entries) != 3 || entries[2].Member != "cid" || entries[2].TiedRank != 3 {
		t.Errorf("entries: %+v", entries)
	}
	for _, err := range c.ExportEntries(ctx, "nowhere", client.ExportQuery{}) {
		if !errors.Is(err, leaderboard.ErrBoardNotFound) {
			t.Errorf("a board that is not there: %v", err)
		}
	}
	return []string{"exportEntries"}
}

func changesPart(t *testing.T, c *client.Client) []string {
	ctx := t.Context()
	seq := makeBoard(t, c, "changes-1", leaderboard.Rules{})
	export, err := c.Export(ctx, "changes-1", client.FormatJSONL, client.ExportQuery{})
	must(t, err)
	if len(all(t, export.Entries())) != 3 || export.Cursor == "" {
		t.Errorf("export: %+v", export)
	}
	_, err = c.Submit(ctx, "changes-1", []leaderboard.Submission{{Member: "cid", Score: 40}})
	must(t, err)
	page, err := c.Changes(ctx, "changes-1", client.ChangesQuery{After: export.Cursor, Wait: time.Minute})
	must(t, err)
	if len(page.Changes) != 1 || page.Changes[0].Seq != seq+1 || page.Changes[0].Before.Score != 10 || page.Changes[0].After.Score != 40 || page.Cursor != page.Changes[0].Cursor {
		t.Errorf("changes after the export: %+v", page)
	}
	n := 0
	followed(t, c, page.Cursor)
	for change, err := range c.Follow(ctx, "changes-1", client.ChangesQuery{Window: "all_time", Limit: 2}) {
		must(t, err)
		if n++; change.Seq != int64(n) || change.CommittedAt.IsZero() || change.Period != "all_time" {
			t.Errorf("change %d: %+v", n, change)
		}
		if n == 4 {
			break
		}
	}
	must(t, c.DeleteBoard(ctx, "changes-1"))
	for _, err := range c.Follow(ctx, "changes-1", client.ChangesQuery{After: page.Cursor}) {
		if !errors.Is(err, leaderboard.ErrBoardNotFound) {
			t.Errorf("a board that is gone: %v", err)
		}
	}
	makeBoard(t, c, "changes-1", leaderboard.Rules{})
	if _, err := c.Changes(ctx, "changes-1", client.ChangesQuery{After: page.Cursor}); !errors.Is(err, leaderboard.ErrIncarnationChanged) {
		t.Errorf("a board that was made again: %v", err)
	}
	return []string{"readChanges"}
}

func heldPart(t *testing.T, c *client.Client) []string {
	ctx := t.Context()
	most := int64(100)
	makeBoard(t, c, "held-1", leaderboard.Rules{Review: &leaderboard.Review{Hold: []leaderboard.HoldRule{{Above: &most}}}})
	made, err := c.CreateKey(ctx, client.KeyRequest{Name: "game", Scope: leaderboard.ScopeWrite, Boards: []string{"held-1"}})
	must(t, err)
	game := admin(t, client.WithKey(made.Secret))
	receipt, err := game.Submit(ctx, "held-1", []leaderboard.Submission{{Member: "cheat", Score: 101}, {Member: "eve", Score: 102}})
	must(t, err)
	if r := receipt.Results[0]; r.Status != leaderboard.StatusHeld || r.Error == nil || r.Error.Code() != leaderboard.CodeHeld {
		t.Errorf("submitted: %+v", r)
	}
	held := all(t, c.Held(ctx, "held-1", "", ""))
	if len(held) != 2 || held[0].Member != "eve" || *held[0].Score != 102 || held[0].State != leaderboard.HeldStateWaiting {
		t.Fatalf("held: %+v", held)
	}
	approved, err1 := c.ApproveHeld(ctx, held[0].ID, "seen", false)
	rejected, err2 := c.RejectHeld(ctx, held[1].ID, "")
	one, err3 := c.HeldOne(ctx, held[0].ID)
	must(t, err1, err2, err3)
	if approved.Outcome != leaderboard.StatusApplied || one.Note != "seen" || rejected.State != leaderboard.HeldStateRejected || rejected.DecidedTime == nil {
		t.Errorf("decided: %+v, %+v, %+v", approved, rejected, one)
	}
	if _, err := c.ApproveHeld(ctx, held[1].ID, "", false); !errors.Is(err, leaderboard.ErrHeldDecided) {
		t.Errorf("approved after its rejection: %v", err)
	}
	if _, err := c.HeldOne(ctx, "7"); !errors.Is(err, leaderboard.ErrHeldNotFound) {
		t.Errorf("one that does not exist: %v", err)
	}
	return []string{"listHeld", "getHeld", "approveHeld", "rejectHeld"}
}

func healthPart(t *testing.T, c *client.Client) []string {
	ctx := t.Context()
	live, err1 := c.Live(ctx)
	ready, err2 := c.Ready(ctx)
	document, err3 := c.OpenAPI(ctx)
	metrics, err4 := c.Metrics(ctx)
	must(t, err1, err2, err3, err4)
	if live.Status != "ok" || ready.Checks["mysql"] != "ok" || !strings.Contains(string(document), `"openapi"`) || !strings.Contains(string(metrics), "# HELP") {
		t.Errorf("%+v, %+v, %d and %d bytes", live, ready, len(document), len(metrics))
	}
	return []string{"getLivez", "getReadyz", "getOpenAPI", "getMetrics"}
}

// TestSentinelsAreProblems: each sentinel that the client knows is a problem that the server has a page about.
func TestSentinelsAreProblems(t *testing.T) {
	t.Parallel()
	c := admin(t)
	for _, sentinel := range []error{
		leaderboard.ErrBoardNotFound, leaderboard.ErrPeriodNotFound, leaderboard.ErrNotRanked, leaderboard.ErrRunNotFound,
		leaderboard.ErrNotDerived, leaderboard.ErrProfileNotFound, leaderboard.ErrNotHidden, leaderboard.ErrBoardConflict,
		leaderboard.ErrPeriodClosed, leaderboard.ErrKeyReused, leaderboard.ErrSeqAhead, leaderboard.ErrOverloaded,
		leaderboard.ErrUnavailable, leaderboard.ErrOutcomeUnknown,
	} {
		code := client.CodeOf(sentinel)
		if _, err := c.Do(t.Context(), client.Request{Method: "GET", Path: "/problems/" + code}); code == "" || err != nil {
			t.Errorf("%v is problem %q: %v", sentinel, code, err)
		}
		if !errors.Is(fmt.Errorf("wrapped: %w", &client.Problem{Type: "/problems/" + code}), sentinel) {
			t.Errorf("problem %s is not %v", code, sentinel)
		}
	}
	if errors.Is(&client.Problem{}, errors.New("other")) || errors.Is(&client.Problem{}, context.Canceled) {
		t.Error("a problem without a type is every error")
	}
}

// followed follows the changes of board changes-1 to their end, and again from the end.
func followed(t *testing.T, c *client.Client, end string) {
	t.Helper()
	ctx := t.Context()
	changes := func(q client.ChangesQuery) (n int) {
		t.Helper()
		q.Once = true
		for _, err := range c.Follow(ctx, "changes-1", q) {
			must(t, err)
			n++
		}
		return n
	}
	if all, rest := changes(client.ChangesQuery{Limit: 1}), changes(client.ChangesQuery{After: end}); all < 2 || rest != 0 {
		t.Errorf("followed %d changes, then %d", all, rest)
	}
}
