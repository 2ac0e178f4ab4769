package topn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"leaderboard/cache/cachetest"
	"leaderboard/leaderboard"
)

// TestCopyIsRightOrSaysSo drives one copy through random commits, applications in any order, builds from fresh and old
// snapshots, lost keys and restored backups. After every step, every answer of the copy is exactly what the period was
// at the state that the answer names; otherwise it says that it cannot answer (promises B2, B3, B4).
func TestCopyIsRightOrSaysSo(t *testing.T) {
	t.Parallel()
	client := newClient(t)
	ids := int64(0)
	rapid.Check(t, func(t *rapid.T) {
		ids++
		m := newMachine(t, client, ids)
		t.Repeat(map[string]func(*rapid.T){
			"":            m.check,
			"commit":      m.commit,
			"writeThough": m.writeThrough,
			"applyAny":    m.applyAny,
			"catchUp":     m.catchUp,
			"build":       m.build,
			"buildLate":   m.buildLate,
			"lose":        m.lose,
			"backUp":      m.backUp,
			"restore":     m.restore,
			"prune":       m.prune,
		})
	})
}

type machine struct {
	ctx    context.Context
	client redis.UniversalClient
	world  *cachetest.World
	copies *Copies
	backup cachetest.Backup
	past   []leaderboard.Commit // of all histories
}

func newMachine(t *rapid.T, client redis.UniversalClient, id int64) *machine {
	orders := []leaderboard.Order{leaderboard.OrderDesc, leaderboard.OrderAsc}
	rules := cachetest.Rules(func(r *leaderboard.Rules) {
		r.Order = rapid.SampledFrom(orders).Draw(t, "order")
		r.Tiebreak.Order = rapid.SampledFrom(orders).Draw(t, "tiebreak order")
		r.TopN = rapid.IntRange(1, 6).Draw(t, "top_n")
	})
	w := cachetest.NewWorld(id, rules)
	return &machine{
		ctx: context.Background(), client: client, world: w, backup: w.Backup(),
		copies: New(client, w, Options{Slack: rapid.IntRange(1, 3).Draw(t, "slack")}),
	}
}

func (m *machine) drawEdits(t *rapid.T) []cachetest.Edit {
	scores := []int64{0, 1, 2, -1, math.MinInt64, math.MaxInt64, 1<<53 - 1, 1 << 53, 1<<53 + 1, -1<<53 - 1}
	var edits []cachetest.Edit
	for range rapid.IntRange(1, 4).Draw(t, "changes") {
		member := fmt.Sprint("m", rapid.IntRange(0, 14).Draw(t, "member"))
		e := cachetest.Remove(member)
		if rapid.IntRange(0, 3).Draw(t, "remove") > 0 {
			score := rapid.SampledFrom(scores).Draw(t, "score")
			e = cachetest.PutTiebreak(member, score, int64(rapid.IntRange(0, 1).Draw(t, "tiebreak")))
		}
		edits = append(edits, e)
	}
	return edits
}

func (m *machine) commit(t *rapid.T) {
	if c := m.world.Commit(m.drawEdits(t)...); len(c.Changes) > 0 {
		m.past = append(m.past, c)
	}
}

func (m *machine) writeThrough(t *rapid.T) {
	c := m.world.Commit(m.drawEdits(t)...)
	if len(c.Changes) > 0 {
		m.past = append(m.past, c)
		m.apply(t, []leaderboard.Commit{c})
	}
}

// applyAny applies any run of commits that ever were: twice, too early, too late, of a history that is gone.
func (m *machine) applyAny(t *rapid.T) {
	if len(m.past) == 0 {
		return
	}
	from := rapid.IntRange(0, len(m.past)-1).Draw(t, "from")
	to := from + 1
	for want := rapid.IntRange(1, 3).Draw(t, "commits"); to < len(m.past) && to-from < want; to++ {
		if m.past[to].From().Seq != m.past[to-1].LastSeq || m.past[to].PrevCommittedAt != m.past[to-1].CommittedAt {
			break
		}
	}
	m.apply(t, m.past[from:to])
}

func (m *machine) apply(t *rapid.T, commits []leaderboard.Commit) {
	if _, err := m.copies.Apply(m.ctx, m.world.Ref, commits); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) catchUp(t *rapid.T) {
	_, err := m.copies.CatchUp(m.ctx, m.world.Ref)
	switch {
	case err == nil:
		m.isAt(t, "after a catch-up", m.world.Name())
	case !errors.Is(err, leaderboard.ErrNeedsBuild):
		t.Fatal(err)
	}
}

func (m *machine) build(t *rapid.T) {
	out, err := m.copies.Build(m.ctx, m.world.Ref)
	if err != nil {
		t.Fatal(err)
	}
	if out.Refused {
		t.Fatalf("a build from the present state was refused: %+v", out)
	}
	m.isAt(t, "after a build", m.world.Name())
	q := leaderboard.PageQuery{Limit: m.world.Ref.Rules.TopN}
	if _, _, err := m.copies.Page(m.ctx, m.world.Ref, q); err != nil {
		t.Fatalf("after a build the top %d are not in it: %s", q.Limit, err)
	}
}

// buildLate publishes a snapshot of any earlier state, like a builder that was paused; also a state from before a
// backup was restored.
func (m *machine) buildLate(t *rapid.T) {
	names := m.world.Names()
	slices.SortFunc(names, func(a, b leaderboard.Revision) int { return int(a.AsOf - b.AsOf) })
	old := rapid.SampledFrom(names).Draw(t, "snapshot")
	before, err := m.copies.Info(m.ctx, m.world.Ref)
	if err != nil {
		t.Fatal(err)
	}
	m.world.SnapshotAt(&old)
	out, err := m.copies.Build(m.ctx, m.world.Ref)
	m.world.SnapshotAt(nil)
	if err != nil && !errors.Is(err, leaderboard.ErrNeedsBuild) {
		t.Fatal(err)
	}
	newer := before.Exists && before.Seq > old.Seq && m.world.Remembers(before.Revision)
	if newer && !out.Refused {
		t.Fatalf("a copy at seq %d gave way to a build at seq %d", before.Seq, old.Seq)
	}
	if newer {
		m.isAtLeast(t, before.Seq)
	}
}

func (m *machine) isAt(t *rapid.T, when string, want leaderboard.Revision) {
	info, err := m.copies.Info(m.ctx, m.world.Ref)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Revision; !info.Exists || got != want {
		t.Fatalf("%s the copy is at %+v (exists: %t), want %+v", when, got, info.Exists, want)
	}
}

func (m *machine) isAtLeast(t *rapid.T, seq int64) {
	info, err := m.copies.Info(m.ctx, m.world.Ref)
	if err != nil {
		t.Fatal(err)
	}
	if !info.Exists || info.Seq < seq {
		t.Fatalf("the copy was at seq %d and is at %d (exists: %t)", seq, info.Seq, info.Exists)
	}
}

// lose takes a part of the copy, or all of it, away.
func (m *machine) lose(t *rapid.T) {
	keys := m.copies.keys(m.world.Ref)
	var err error
	switch what := rapid.IntRange(0, 5).Draw(t, "what is lost"); what {
	case 0, 1, 2:
		err = m.client.Del(m.ctx, keys[what]).Err()
	case 3:
		err = m.client.Del(m.ctx, keys...).Err()
	case 4:
		err = m.client.ZPopMax(m.ctx, keys[0]).Err()
	case 5:
		var member []string
		if member, err = m.client.HRandField(m.ctx, keys[1], 1).Result(); err == nil && len(member) > 0 {
			err = m.client.HDel(m.ctx, keys[1], member...).Err()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (m *machine) backUp(*rapid.T)  { m.backup = m.world.Backup() }
func (m *machine) restore(*rapid.T) { m.world.Restore(m.backup) }

func (m *machine) prune(t *rapid.T) {
	m.world.Prune(m.world.Name().Seq - int64(rapid.IntRange(0, 3).Draw(t, "left")))
}

// check asks the copy random questions.
func (m *machine) check(t *rapid.T) {
	mode := rapid.SampledFrom([]leaderboard.Mode{leaderboard.ModeStrict, leaderboard.ModeTied, leaderboard.ModeDense, leaderboard.ModeAll}).Draw(t, "mode")
	m.checkPage(t, leaderboard.PageQuery{
		Query: leaderboard.Query{Mode: mode}, Limit: rapid.IntRange(0, 9).Draw(t, "limit"), Offset: rapid.Int64Range(0, 9).Draw(t, "offset"),
	})
	m.checkPage(t, leaderboard.PageQuery{
		Query: leaderboard.Query{Mode: mode}, Limit: rapid.IntRange(1, 5).Draw(t, "limit"), Before: rapid.IntRange(0, 3).Draw(t, "before"),
		Around: fmt.Sprint("m", rapid.IntRange(0, 14).Draw(t, "around")),
	})
	m.checkCursor(t, mode)
	m.checkMembers(t, mode)
}

// checkMembers looks some members up together, each for itself.
func (m *machine) checkMembers(t *rapid.T, mode leaderboard.Mode) {
	var members []string
	for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(0, 14), 1, 4, rapid.ID).Draw(t, "members") {
		members = append(members, fmt.Sprint("m", n))
	}
	ranks, _, err := m.copies.MemberRanks(m.ctx, m.world.Ref, mode, members)
	if !m.answered(t, err) {
		return
	}
	for i, member := range members {
		q := leaderboard.MembersQuery{Query: leaderboard.Query{Mode: mode}, Members: []string{member}}
		if got, err := ranks.Standings(i, q); m.answered(t, err) {
			if want := m.oracle(t, got.State).Members(q, leaderboard.SourceRedis); !reflect.DeepEqual(got, want) {
				t.Fatalf("member %v: got %+v, want %+v", q, got, want)
			}
		}
	}
}

// checkCursor walks from page to page as far as the copy goes.
func (m *machine) checkCursor(t *rapid.T, mode leaderboard.Mode) {
	q := leaderboard.PageQuery{Query: leaderboard.Query{Mode: mode}, Limit: rapid.IntRange(1, 4).Draw(t, "step")}
	for {
		page := m.checkPage(t, q)
		if page == nil || page.Next == "" {
			return
		}
		q.After = page.Next
	}
}

func (m *machine) checkPage(t *rapid.T, q leaderboard.PageQuery) *leaderboard.Page {
	got, _, err := m.copies.Page(m.ctx, m.world.Ref, q)
	if errors.Is(err, leaderboard.ErrNotRanked) {
		info, err := m.copies.Info(m.ctx, m.world.Ref)
		if err != nil {
			t.Fatal(err)
		}
		if at := m.oracle(t, leaderboard.State{Revision: info.Revision}).Position(q.Around); at >= 0 {
			t.Fatalf("%s has rank %d at seq %d, the copy says it has none", q.Around, at+1, info.Seq)
		}
		return nil
	}
	if !m.answered(t, err) {
		return nil
	}
	want, err := m.oracle(t, got.State).Page(q, leaderboard.SourceRedis)
	if err != nil {
		t.Fatalf("page %+v: got %+v, want %s", q, got, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("page %+v:\n got %+v\nwant %+v", q, got, want)
	}
	return got
}

// answered reports whether the copy answered. It may return the reason why it cannot, and must not fail.
func (m *machine) answered(t *rapid.T, err error) bool {
	if Failed(err) {
		t.Fatal(err)
	}
	return err == nil
}

func (m *machine) oracle(t *rapid.T, s leaderboard.State) cachetest.Oracle {
	o, ok := m.world.At(s.Revision)
	if !ok {
		t.Fatalf("the period never was at seq %d as of %s", s.Seq, s.AsOf)
	}
	return o
}
