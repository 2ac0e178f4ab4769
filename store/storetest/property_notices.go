package storetest

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"leaderboard/leaderboard"
)

// PropertyNotices runs random histories of boards with the rule notify on both the subject and the model: submissions under
// all policies, removals, hidden, restored and erased members, lists of friends, periods that end. The members that notice
// finds since its last call, which is after one step or after several, must be the members that the model finds. putFriends
// sets a list of friends. The clock of the subject must be settable.
func PropertyNotices(t *testing.T, s Subject, putFriends func(ctx context.Context, member string, friends []string) error, notice func(t testing.TB) ([]Notice, error)) {
	var runs atomic.Int64
	prefix := boardName(t)
	rapid.Check(t, func(rt *rapid.T) {
		h := &noticeHistory{
			history:    &history{Subject: s, ctx: leaderboard.WithCaller(t.Context(), leaderboard.Caller{Admin: true}), model: NewModel(), now: propertyStart},
			putFriends: putFriends, seqs: map[int64]int64{}, told: map[toldOnce]string{},
		}
		h.name = fmt.Sprintf("%s-%d", prefix[:min(40, len(prefix))], runs.Add(1))
		h.begin(rt)
		h.compareNotices(rt, func() ([]Notice, error) { return notice(t) })
		for range rapid.IntRange(1, 10).Draw(rt, "rounds") {
			for range rapid.IntRange(1, 3).Draw(rt, "steps") {
				h.change(rt)
			}
			h.compareNotices(rt, func() ([]Notice, error) { return notice(t) })
			if rapid.IntRange(0, 4).Draw(rt, "ends") == 0 {
				h.turn(rt)
				h.follow(rt)
				h.compareNotices(rt, func() ([]Notice, error) { return notice(t) })
			}
		}
		h.end(rt)
	})
}

// noticeHistory is a history with the notices so far.
type noticeHistory struct {
	*history
	putFriends func(ctx context.Context, member string, friends []string) error

	seqs map[int64]int64 // by period of the model: the last checked seq
	told map[toldOnce]string
}

// toldOnce is a notice that is sent once; the value is the passing member.
type toldOnce struct {
	period, minute int64
	member         string
}

func (h *noticeHistory) begin(t *rapid.T) {
	rules := leaderboard.Rules{
		Order:    rapid.SampledFrom([]leaderboard.Order{leaderboard.OrderDesc, leaderboard.OrderAsc}).Draw(t, "order"),
		Tiebreak: anyTiebreak().Draw(t, "tiebreak"),
		Policy:   rapid.SampledFrom([]leaderboard.Policy{leaderboard.PolicyBest, leaderboard.PolicyLatest, leaderboard.PolicySum}).Draw(t, "policy"),
		Windows:  []leaderboard.Window{rapid.SampledFrom([]leaderboard.Window{leaderboard.WindowHour, leaderboard.WindowAllTime}).Draw(t, "window")},
		Notify: &leaderboard.Notify{
			Passed: rapid.SampledFrom([]leaderboard.NotifyPassed{leaderboard.NotifyPassedFriends, leaderboard.NotifyPassedTop}).Draw(t, "passed"),
			Within: rapid.IntRange(1, 4).Draw(t, "within"),
		},
	}
	h.SetNow(h.now)
	h.syncClock(t)
	for _, database := range []Database{h.Database, h.model} {
		if _, _, err := database.PutBoard(h.ctx, h.name, rules); err != nil {
			t.Fatal(err)
		}
	}
	h.showAll(t)
	h.follow(t)
	h.twin = h.twins[0]
	for _, member := range []string{"a", "A", "a ", "b", "é", " ", "m1", "m2", "m3", "m4", "m5", "m6"} {
		h.befriend(t, member)
	}
}

// befriend gives a member a list of friends.
func (h *noticeHistory) befriend(t *rapid.T, member string) {
	friends := slices.DeleteFunc(rapid.SliceOfNDistinct(anyMember(), 0, 6, rapid.ID).Draw(t, "friends"), func(f string) bool { return f == member })
	err := h.putFriends(h.ctx, member, friends)
	if err == nil {
		_, err = h.model.PutFriends(h.ctx, member, friends)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (h *noticeHistory) change(t *rapid.T) {
	h.now += leaderboard.Micros(rapid.SampledFrom([]int64{0, 1_000_000, 61_000_000}).Draw(t, "time between"))
	h.SetNow(h.now + 2_000_000)
	h.follow(t)
	switch rapid.IntRange(0, 11).Draw(t, "change") {
	case 0:
		h.remove(t, anyMember().Draw(t, "removed"))
	case 1:
		h.hideOrRestore(t)
	case 2:
		h.befriend(t, anyMember().Draw(t, "member"))
	case 3:
		member := anyMember().Draw(t, "forgotten")
		for _, database := range []Database{h.Database, h.model} {
			if _, err := database.Forget(h.ctx, member, "boss"); err != nil {
				t.Fatal(err)
			}
		}
		for once, by := range h.told { // its events are gone
			if once.member == member || by == member {
				delete(h.told, once)
			}
		}
	default:
		h.submit(t, leaderboard.SubmitRequest{Board: h.name, Entries: rapid.SliceOfN(anySubmission(&h.ref.Rules.Tiebreak), 1, 12).Draw(t, "entries")})
	}
}

// compareNotices checks that the subject's notices are the model's, for members with one notice so far who still have an entry.
func (h *noticeHistory) compareNotices(t *rapid.T, notice func() ([]Notice, error)) {
	var all []Notice
	for _, tw := range h.twins {
		found, err := h.model.Notices(h.ctx, h.name, tw.modelRef.ID, h.seqs[tw.modelRef.ID])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, found...)
		if p, err := h.model.Period(h.ctx, tw.modelRef.ID); err == nil {
			h.seqs[p.ID] = p.LastSeq
		}
	}
	var want []string
	seen := map[toldOnce]bool{}
	for _, n := range all {
		once := toldOnce{n.PeriodID, n.Minute, n.Member}
		first := !seen[once]
		seen[once] = true
		if _, before := h.told[once]; before || !first || !h.model.Ranked(n.PeriodID, n.Member) || !h.model.Ranked(n.PeriodID, n.By) {
			continue
		}
		h.told[once] = n.By
		want = append(want, n.text())
	}
	found, err := notice()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, n := range found {
		got = append(got, n.text())
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Fatalf("told are %q, want %q", got, want)
	}
}

func (n *Notice) text() string {
	return fmt.Sprintf("%s/%s %d %q %d by %q %d-%d", n.Board, n.Period, n.Seq, n.Member, n.Score, n.By, n.Previous, n.New)
}
