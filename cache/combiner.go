package cache

import (
	"context"
	"encoding/binary"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"leaderboard"
	"leaderboard/cache/resident"
	"leaderboard/cache/watch"
	"leaderboard/rank"
)

// Combiner ranks several boards as one. It implements leaderboard.CombinedRankings. The first entries are merged out of
// the boards' tops, each from the nearest layer that has it; everything else is counted in MySQL, within the bound of
// the Reader, and kept in the process as the Reader keeps its answers.
type Combiner struct {
	reader   *Reader
	database leaderboard.CombinedRankings
	pages    *answers[combinedPageKey, *leaderboard.CombinedPage]
	members  *answers[combinedMemberKey, *leaderboard.CombinedStandings]
}

// The keys under which merged answers are kept. What is tied and what comes first follows from the codec, which all
// boards share, and from the order of their periods.
type (
	combinedPageKey struct {
		periods string // ids
		codec   rank.Codec
		query   leaderboard.CombinedQuery
	}
	combinedMemberKey struct {
		periods string
		codec   rank.Codec
		query   leaderboard.CombinedMemberQuery
	}
)

// topsAtOnce bounds the tops that one query waits for side by side.
const topsAtOnce = 8

// NewCombiner merges what reader answers, and asks database where that does not reach.
func NewCombiner(reader *Reader, database leaderboard.CombinedRankings) *Combiner {
	o := reader.opts
	return &Combiner{
		reader: reader, database: database,
		pages:   newAnswers(o.answerRules(), combinedPageOps(&o), o.LocalEntries/16, o.LocalBytes/16),
		members: newAnswers(o.answerRules(), combinedMemberOps(&o), o.LocalEntries/16, o.LocalBytes/16),
	}
}

// allFresh says whether the watch lets the states of all periods pass, and counts as reading each.
func allFresh(w *watch.Watch, periods string, states []leaderboard.State) bool {
	all := true
	for i, id := range idsOf(periods, len(states)) {
		all = w.Judge(id, states[i].Revision) == watch.VerdictFresh && all
	}
	return all
}

// CombinedPage implements leaderboard.CombinedRankings.
func (m *Combiner) CombinedPage(ctx context.Context, periods []leaderboard.PeriodRef, q leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	if broken := leaderboard.CheckCombined(periods, q.Mode); broken != nil {
		return nil, broken
	}
	q.Mode = leaderboard.ModeStrict // the answer tells all ranks that there are
	if !q.Fresh && q.Around == "" && q.After == "" && q.Offset <= leaderboard.MaxLimit-int64(q.Limit) {
		return m.top(ctx, periods, q)
	}
	if !q.Fresh {
		ask := func(c resident.Combined) (*leaderboard.CombinedPage, error) { return c.Page(periods, q) }
		if page, ok, err := fromMemories(ctx, m.reader, periods, ask, pageStates); ok {
			return page, err
		}
	}
	key := combinedPageKey{periodIDs(periods), rank.CodecOf(periods[0].Rules), q}
	page, err := combined(ctx, m.reader, m.pages, key, q.Fresh, key.periods, pageStates, func(ctx context.Context) (*leaderboard.CombinedPage, error) {
		return m.database.CombinedPage(ctx, periods, q)
	})
	if err != nil {
		return nil, err
	}
	m.reader.opts.OnAnswer(page.States[0].Source, page.States[0].Stale)
	return page, nil
}

// CombinedMember implements leaderboard.CombinedRankings.
func (m *Combiner) CombinedMember(ctx context.Context, periods []leaderboard.PeriodRef, q leaderboard.CombinedMemberQuery) (*leaderboard.CombinedStandings, error) {
	if broken := leaderboard.CheckCombined(periods, q.Mode); broken != nil {
		return nil, broken
	}
	q.Mode = leaderboard.ModeStrict
	if !q.Fresh {
		ask := func(c resident.Combined) (*leaderboard.CombinedStandings, error) { return c.Member(periods, q) }
		if s, ok, err := fromMemories(ctx, m.reader, periods, ask, memberStates); ok {
			return s, err
		}
	}
	key := combinedMemberKey{periodIDs(periods), rank.CodecOf(periods[0].Rules), q}
	s, err := combined(ctx, m.reader, m.members, key, q.Fresh, key.periods, memberStates, func(ctx context.Context) (*leaderboard.CombinedStandings, error) {
		return m.database.CombinedMember(ctx, periods, q)
	})
	if err != nil {
		return nil, err
	}
	m.reader.opts.OnAnswer(s.States[0].Source, s.States[0].Stale)
	return s, nil
}

// combined returns what is kept, or what the database says within the bound; a fresh answer always the latter. What comes
// is judged when it has come, and once more right before it goes out.
func combined[K comparable, V any](ctx context.Context, r *Reader, kept *answers[K, V], key K, fresh bool, periods string,
	states func(V) []leaderboard.State, ask func(context.Context) (V, error),
) (V, error) {
	j := judge[V]{
		check:   func(ctx context.Context, v V) watch.Verdict { return r.checkAll(ctx, periods, states(v)) },
		now:     func(v V) watch.Verdict { return r.judgeAll(periods, states(v)) },
		isStale: func(v V) bool { return anyStale(states(v)) }, stale: kept.ops.stale,
	}
	load := func(ctx context.Context, _ int64) (V, error) {
		return askDatabase(ctx, j, func(ctx context.Context) (v V, err error) {
			err = r.database.Alone(ctx, func(ctx context.Context) error {
				v, err = ask(ctx)
				return err
			})
			return v, err
		})
	}
	if fresh {
		return load(ctx, 0)
	}
	if v, ok := kept.fresh(key, 0); ok {
		return v, nil
	}
	return confirmed(ctx, kept, key, 0, j, load)
}

func anyStale(states []leaderboard.State) bool {
	return slices.ContainsFunc(states, func(s leaderboard.State) bool { return s.Stale })
}

// top merges the tops of the boards. Each has as many entries as the page reaches down to, so nothing that belongs on
// it can be missing; the tops may be of different moments, and the answer names the state of each.
func (m *Combiner) top(ctx context.Context, periods []leaderboard.PeriodRef, q leaderboard.CombinedQuery) (*leaderboard.CombinedPage, error) {
	var tops []*leaderboard.Page
	late := true // the slowest of them outlasted another
	for try := 0; try < confirmAttempts && late; try++ {
		var err error
		if tops, err = m.tops(ctx, periods, topLimit(q)); err != nil {
			return nil, err
		}
		states := topStates(tops)
		late = !anyStale(states) && m.reader.judgeAll(periodIDs(periods), states) != watch.VerdictFresh
	}
	page := &leaderboard.CombinedPage{States: make([]leaderboard.State, len(tops)), Entries: make([]leaderboard.CombinedRanked, 0, q.Limit)}
	runs := make([][]leaderboard.Ranked, len(tops))
	for i, top := range tops {
		page.States[i], runs[i] = top.State, top.Entries
		page.States[i].Stale = page.States[i].Stale || late
	}
	rules := periods[0].Rules
	at, ranks := make([]int, len(runs)), leaderboard.Ranks{}
	var last leaderboard.Entry
	compare := func(a, b leaderboard.Ranked) int { return rules.Compare(a.Entry, b.Entry) }
	rank.Merge(runs, compare, func(run int) bool {
		if ranks.Strict == q.Offset+int64(q.Limit) {
			return false
		}
		e := runs[run][at[run]].Entry
		at[run]++
		ranks = ranks.Next(ranks.Strict > 0 && !rules.Better(last, e))
		if last = e; ranks.Strict > q.Offset {
			page.Entries = append(page.Entries, leaderboard.CombinedRanked{Ranked: leaderboard.Ranked{Ranks: ranks, Entry: e}, Board: periods[run].Board})
		}
		return true
	})
	if n := len(page.Entries); n > 0 && ranks.Strict < leaderboard.Total(page.States) {
		page.Next, page.NextBoard = string(rank.CodecOf(rules).Key(last)), page.Entries[n-1].Board
	}
	return page, nil
}

func topStates(tops []*leaderboard.Page) []leaderboard.State {
	states := make([]leaderboard.State, len(tops))
	for i, top := range tops {
		states[i] = top.State
	}
	return states
}

// topLimit returns how many entries of each board a page takes: the same for many pages, so that they share the tops.
func topLimit(q leaderboard.CombinedQuery) int {
	const short = 100
	switch {
	case q.Offset == 0:
		return q.Limit
	case q.Offset+int64(q.Limit) <= short:
		return short
	default:
		return leaderboard.MaxLimit
	}
}

// tops reads the first entries of each board, in the board's own mode, which is the one that they are read in most.
func (m *Combiner) tops(ctx context.Context, periods []leaderboard.PeriodRef, limit int) ([]*leaderboard.Page, error) {
	tops := make([]*leaderboard.Page, len(periods))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(topsAtOnce)
	for i := range periods {
		p := &periods[i]
		q := leaderboard.PageQuery{Query: leaderboard.Query{Mode: p.Rules.Mode, MinSeq: p.LastSeq}, Limit: limit}
		key := pageKeyOf(*p, q)
		if page, ok := m.reader.pages.fresh(key, q.MinSeq); ok {
			m.reader.opts.OnAnswer(leaderboard.SourceLocal, false)
			tops[i] = page
			continue
		}
		group.Go(func() (err error) {
			tops[i], err = m.reader.page(ctx, *p, q, key)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return tops, nil
}

// idsOf returns the ids of the n periods in a key.
func idsOf(periods string, n int) []int64 {
	ids, b := make([]int64, n), []byte(periods)
	for i := range ids {
		id, size := binary.Uvarint(b)
		ids[i], b = int64(id), b[size+historyBytes:]
	}
	return ids
}

// historyBytes is how long the history is that follows the id of a period in a key.
const historyBytes = 8

// periodIDs returns the ids and histories of periods.
func periodIDs(periods []leaderboard.PeriodRef) string {
	b := make([]byte, 0, (4+historyBytes)*len(periods))
	for i := range periods {
		b = binary.AppendUvarint(b, uint64(periods[i].ID))
		b = binary.BigEndian.AppendUint64(b, uint64(periods[i].History))
	}
	return string(b)
}

func marked(states []leaderboard.State, mark func(leaderboard.State) leaderboard.State) []leaderboard.State {
	out := make([]leaderboard.State, len(states))
	for i := range states {
		out[i] = mark(states[i])
	}
	return out
}

// combinedOps has merged answers judged by the watch, period by period; by age when there is none.
func combinedOps[K comparable, V any](o *ReaderOptions, periods func(K) string, states func(V) []leaderboard.State,
	at func(V, []leaderboard.State) V, entries func(V) int,
) answerOps[K, V] {
	ops := answerOps[K, V]{
		judge: byAge[K, V](o.FreshFor, 10*o.FreshFor), seq: func(V) int64 { return 0 },
		local: func(v V) V { return at(v, marked(states(v), local)) },
		stale: func(v V) V { return at(v, marked(states(v), stale)) },
		bytes: func(v V) int { return answerBytes + entryBytes*(entries(v)+len(states(v))) },
	}
	if w := o.Watch; w != nil {
		ops.judge = func(key K, v V, _ time.Duration) freshness {
			if allFresh(w, periods(key), states(v)) {
				return freshnessFresh
			}
			return freshnessOld
		}
	}
	return ops
}

func pageStates(p *leaderboard.CombinedPage) []leaderboard.State        { return p.States }
func memberStates(s *leaderboard.CombinedStandings) []leaderboard.State { return s.States }

func combinedPageOps(o *ReaderOptions) answerOps[combinedPageKey, *leaderboard.CombinedPage] {
	return combinedOps(o, func(k combinedPageKey) string { return k.periods },
		pageStates,
		func(p *leaderboard.CombinedPage, s []leaderboard.State) *leaderboard.CombinedPage {
			return &leaderboard.CombinedPage{States: s, Entries: p.Entries, Next: p.Next, NextBoard: p.NextBoard}
		},
		func(p *leaderboard.CombinedPage) int { return len(p.Entries) })
}

func combinedMemberOps(o *ReaderOptions) answerOps[combinedMemberKey, *leaderboard.CombinedStandings] {
	return combinedOps(o, func(k combinedMemberKey) string { return k.periods },
		memberStates,
		func(s *leaderboard.CombinedStandings, at []leaderboard.State) *leaderboard.CombinedStandings {
			return &leaderboard.CombinedStandings{States: at, Entries: s.Entries}
		},
		func(s *leaderboard.CombinedStandings) int { return len(s.Entries) })
}
