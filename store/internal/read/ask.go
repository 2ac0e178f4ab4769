package read

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// Page implements leaderboard.Rankings.
func (s *Reader) Page(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	a := s.queryOne(ctx, ref, leaderboard.Question{Page: &q})
	return a.Page, mysql.Translate(ctx, "page", a.Err)
}

// Members implements leaderboard.Rankings.
func (s *Reader) Members(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	a := s.queryOne(ctx, ref, leaderboard.Question{Members: &q})
	return a.Members, mysql.Translate(ctx, "members", a.Err)
}

// ScoreRank implements leaderboard.Rankings.
func (s *Reader) ScoreRank(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	a := s.queryOne(ctx, ref, leaderboard.Question{Score: &q})
	return a.Score, mysql.Translate(ctx, "score rank", a.Err)
}

// Moves implements leaderboard.Rankings.
func (s *Reader) Moves(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.MovesQuery) (*leaderboard.Moves, error) {
	a := s.queryOne(ctx, ref, leaderboard.Question{Moves: &q})
	return a.Moves, mysql.Translate(ctx, "moves", a.Err)
}

func (s *Reader) queryOne(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.Question) leaderboard.Answer {
	answers, err := s.query(ctx, ref, []leaderboard.Question{q})
	if err != nil {
		return leaderboard.Answer{Err: err}
	}
	return answers[0]
}

// Query implements leaderboard.BatchRankings. For any number of questions there is one statement for the entries of all
// members, one for the counts (in chunks), one for the runs of entries (in chunks), and a statement for the groups in which
// tied pages begin; dense ranks take one more per question.
func (s *Reader) Query(ctx context.Context, ref leaderboard.PeriodRef, questions []leaderboard.Question) ([]leaderboard.Answer, error) {
	answers, err := s.query(ctx, ref, questions)
	if err != nil {
		return nil, mysql.Translate(ctx, "questions", err)
	}
	for i := range answers {
		answers[i].Err = mysql.Translate(ctx, "question", answers[i].Err)
	}
	return answers, nil
}

func (s *Reader) query(ctx context.Context, ref leaderboard.PeriodRef, questions []leaderboard.Question) ([]leaderboard.Answer, error) {
	var out []leaderboard.Answer
	err := s.read(ctx, ref, func(v *view) error {
		b := questionBatch{view: v, questions: make([]question, len(questions)), answers: make([]leaderboard.Answer, len(questions))}
		for i := range questions {
			b.questions[i] = questionOf(&questions[i])
		}
		out = b.answers
		if err := b.answer(ctx); err != nil || !b.some(withKept) {
			return err
		}
		return b.addKept(ctx)
	})
	return out, err
}

// questionBatch is questions while they are being answered.
type questionBatch struct {
	*view
	questions []question
	answers   []leaderboard.Answer
}

// question is a question. The parts that its kind does not have are zero.
type question struct {
	page    *leaderboard.PageQuery
	members *leaderboard.MembersQuery
	score   *leaderboard.ScoreQuery
	moves   *leaderboard.MovesQuery

	mode    leaderboard.Mode
	minSeq  int64
	around  rank.Key       // entry of the member that a page is around
	shown   rank.Selection // of members
	moving  []moving       // of moves
	probes  []rank.Key     // places to count
	ahead   int64          // entries ahead of a page
	stretch stretch        // the page, or a part of it
}

func questionOf(q *leaderboard.Question) question {
	switch {
	case q.Page != nil:
		p := *q.Page
		p.Limit, p.Offset = min(max(p.Limit, 0), maxPage), max(p.Offset, 0)
		return question{page: &p, mode: p.Mode, minSeq: p.MinSeq}
	case q.Members != nil:
		return question{members: q.Members, mode: q.Members.Mode, minSeq: q.Members.MinSeq}
	case q.Moves != nil:
		return question{moves: q.Moves, mode: q.Moves.Mode, minSeq: q.Moves.MinSeq}
	default:
		return question{score: q.Score, minSeq: q.Score.MinSeq}
	}
}

// each calls fn for each question that has not failed. A question that breaks a rule, or has no answer, fails alone; any
// other error is the error of all.
func (b *questionBatch) each(fn func(a *question, out *leaderboard.Answer) error) error {
	for i := range b.questions {
		out := &b.answers[i]
		if out.Err != nil {
			continue
		}
		err := fn(&b.questions[i], out)
		var rule *leaderboard.RuleError
		switch {
		case errors.As(err, &rule), errors.Is(err, leaderboard.ErrNotRanked), errors.Is(err, leaderboard.ErrSeqAhead), errors.Is(err, errCursor):
			out.Err = err
		case err != nil:
			return err
		}
	}
	return nil
}

// errCursor is the error for a cursor that is no place in the order.
var errCursor = errors.New("store: the cursor is no sort key")

// afterCursor returns the place right after a cursor: its entry, if it is still there, is ahead of it.
func afterCursor(cursor rank.Key) (rank.Key, error) {
	place := cursor + "\x00"
	if _, err := entries.KeyBound(cursor, true); err != nil {
		return place, fmt.Errorf("%w: %w", errCursor, err)
	}
	return place, nil
}

func seqAhead(at, want int64) error {
	return fmt.Errorf("%w: it is at %d, not at %d", leaderboard.ErrSeqAhead, at, want)
}

// some reports whether there is a question of the kind that has not failed.
func (b *questionBatch) some(is func(*question) bool) bool {
	for i := range b.questions {
		if b.answers[i].Err == nil && is(&b.questions[i]) {
			return true
		}
	}
	return false
}

func isPage(a *question) bool    { return a.page != nil }
func isMoves(a *question) bool   { return a.moves != nil }
func withDense(a *question) bool { return a.mode.WithDense() }

// answer reads the data for all questions, step by step.
func (b *questionBatch) answer(ctx context.Context) error {
	if err := b.find(ctx); err != nil {
		return err
	}
	c, err := b.count(ctx, b.probes(), !b.some(isPage) && !b.some(withDense) && !b.some(withKept))
	if err != nil {
		return err
	}
	err = b.each(func(a *question, out *leaderboard.Answer) (err error) {
		switch {
		case a.page != nil:
			a.ahead = b.pageStart(a, &c)
			leading := min(a.ahead, lead)
			a.stretch = stretch{view: b.view, start: a.ahead - leading, limit: a.page.Limit + int(leading)}
		case a.members != nil:
			err = b.standings(ctx, a, &c, out.Members)
		case a.moves != nil:
			out.Moves, err = b.moved(ctx, a, &c)
		default:
			prefix := b.codec.Prefix(a.score.Score, a.score.Tiebreak)
			ranks := leaderboard.Ranks{Strict: c.before(prefix+entries.AfterTied) + 1, Tied: c.before(prefix) + 1}
			out.Score = &leaderboard.ScoreRank{State: b.state, Ranks: ranks}
		}
		return err
	})
	if err != nil || !b.some(isPage) {
		return err
	}
	return b.pages(ctx)
}

// find looks up the entries of all members in the questions, and chooses what to count.
func (b *questionBatch) find(ctx context.Context) error {
	keys, err := b.look(ctx, b.named())
	if err != nil {
		return err
	}
	entryOf := make(map[string]rank.Key, len(keys))
	for _, k := range keys {
		entryOf[k.Member()] = k
	}
	return b.each(func(a *question, out *leaderboard.Answer) error {
		if b.state.Seq < a.minSeq {
			return seqAhead(b.state.Seq, a.minSeq)
		}
		switch {
		case a.score != nil:
			prefix := b.codec.Prefix(a.score.Score, a.score.Tiebreak)
			a.probes = []rank.Key{prefix, prefix + entries.AfterTied}
		case a.members != nil:
			out.Members = &leaderboard.Standings{}
			var found []rank.Key
			for _, m := range a.members.Members {
				if k, ok := entryOf[m]; ok {
					found = append(found, k)
				} else {
					out.Members.NotRanked = append(out.Members.NotRanked, m)
				}
			}
			slices.Sort(found)
			a.shown = rank.Select(a.members, found)
			a.probes = probesOf(a.shown.Keys())
		case a.moves != nil:
			a.moving = b.movingOf(a.moves, entryOf)
			a.probes = b.probesOfMoves(a)
		case a.page.Around != "":
			var ok bool
			if a.around, ok = entryOf[a.page.Around]; !ok {
				return leaderboard.ErrNotRanked
			}
			a.probes = []rank.Key{a.around}
		case a.page.After != "":
			cursor, err := afterCursor(rank.Key(a.page.After))
			a.probes = []rank.Key{cursor}
			return err
		}
		return nil
	})
}

// named returns the members in the questions, each once.
func (b *questionBatch) named() []string {
	var out []string
	for i := range b.questions {
		switch a := &b.questions[i]; {
		case a.members != nil:
			out = append(out, a.members.Members...)
		case a.moves != nil:
			for _, m := range a.moves.Moves {
				out = append(append(out, m.Member), m.Friends...)
			}
		case a.page != nil && a.page.Around != "":
			out = append(out, a.page.Around)
		}
	}
	out = slices.DeleteFunc(out, func(m string) bool { return leaderboard.CheckMember(m) != nil })
	if len(b.questions) > 1 || b.some(isMoves) {
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out
}

func (b *questionBatch) probes() []rank.Key {
	var out []rank.Key
	_ = b.each(func(a *question, _ *leaderboard.Answer) error {
		out = append(out, a.probes...)
		return nil
	})
	return out
}

// pageStart returns the number of entries ahead of a page.
func (b *questionBatch) pageStart(a *question, c *counted) int64 {
	switch {
	case a.around != "":
		return rank.StartAround(*a.page, c.before(a.around), b.state.Total)
	case len(a.probes) > 0:
		return c.before(a.probes[0])
	default:
		return a.page.Offset
	}
}

// standings completes the answer to a question about members.
func (b *questionBatch) standings(ctx context.Context, a *question, c *counted, out *leaderboard.Standings) error {
	ranks, err := b.ranks(ctx, a.shown.Keys(), a.mode, c)
	if err != nil {
		return err
	}
	s, err := a.shown.Standings(b.codec, ranks)
	if err != nil {
		return err
	}
	s.State, s.NotRanked = b.state, out.NotRanked
	*out = *s
	return nil
}

// pages reads the entries of all pages and gives them their ranks.
func (b *questionBatch) pages(ctx context.Context) error {
	var stretches []*stretch
	for i := range b.questions {
		if a := &b.questions[i]; a.page != nil && b.answers[i].Err == nil && a.page.Limit > 0 {
			stretches = append(stretches, &a.stretch)
		}
	}
	if err := fill(ctx, stretches, false); err != nil {
		return err
	}
	var groups []rank.Key // whose number of better entries is not known yet
	for i := range b.questions {
		if a := &b.questions[i]; len(a.entries()) > 0 {
			if _, ok := a.stretch.tiedIn(a.ahead); !ok {
				groups = append(groups, a.entries()[0].Prefix())
			}
		}
	}
	c, err := b.count(ctx, groups, !b.some(withDense) && !b.some(withKept))
	if err != nil {
		return err
	}
	return b.each(func(a *question, out *leaderboard.Answer) (err error) {
		if a.page == nil {
			return nil
		}
		first := leaderboard.Ranks{Strict: a.ahead + 1}
		if keys := a.entries(); len(keys) > 0 {
			if first, err = b.first(ctx, a, &c); err != nil {
				return err
			}
		}
		out.Page, err = b.page(a.entries(), first)
		return err
	})
}

// entries returns the entries of a page.
func (a *question) entries() []rank.Key {
	return a.stretch.keys[min(len(a.stretch.keys), int(a.ahead-a.stretch.start)):]
}

// first returns the ranks of the first entry of a page.
func (b *questionBatch) first(ctx context.Context, a *question, c *counted) (leaderboard.Ranks, error) {
	group := a.entries()[0].Prefix()
	better, ok := a.stretch.tiedIn(a.ahead)
	if !ok {
		better = c.before(group)
	}
	r := leaderboard.Ranks{Strict: a.ahead + 1, Tied: better + 1}
	if !withDense(a) {
		return r, nil
	}
	dense, err := b.dense(ctx, a.mode, []rank.Key{group}, []int64{better})
	if err == nil {
		r.Dense = dense[0]
	}
	return r, err
}

// probesOf returns the places to count for the ranks of entries, whose keys are in order: of each group of tied entries
// the prefix, and the entries.
func probesOf(keys []rank.Key) []rank.Key {
	probes := make([]rank.Key, 0, 2*len(keys))
	for i, k := range keys {
		if i == 0 || !rank.Tied(keys[i-1], k) {
			probes = append(probes, k.Prefix())
		}
		probes = append(probes, k)
	}
	return probes
}

// ranks returns the ranks of entries in order.
func (v *view) ranks(ctx context.Context, keys []rank.Key, mode leaderboard.Mode, c *counted) ([]leaderboard.Ranks, error) {
	ranks := make([]leaderboard.Ranks, len(keys))
	var groups []rank.Key
	var better []int64 // than each group
	for i, k := range keys {
		if i == 0 || !rank.Tied(keys[i-1], k) {
			groups, better = append(groups, k.Prefix()), append(better, c.before(k.Prefix()))
		}
		ranks[i] = leaderboard.Ranks{Strict: c.before(k) + 1, Tied: better[len(better)-1] + 1}
	}
	if !mode.WithDense() || len(groups) == 0 {
		return ranks, nil
	}
	dense, err := v.dense(ctx, mode, groups, better)
	if err != nil {
		return nil, err
	}
	group := 0
	for i := range ranks {
		if i > 0 && !rank.Tied(keys[i-1], keys[i]) {
			group++
		}
		ranks[i].Dense = dense[group]
	}
	return ranks, nil
}
