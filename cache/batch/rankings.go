package batch

import (
	"context"
	"errors"
	"fmt"

	"leaderboard"
)

// Rankings answers the queries of a database that takes many of them at once, within the bounds of a Batcher. It implements
// leaderboard.Rankings.
type Rankings struct {
	database leaderboard.BatchRankings
	batches  *Batcher[periodKey, question, leaderboard.Answer]
}

// periodKey is what the questions of a batch have in common: the period, and the order of its entries.
type periodKey struct {
	id, history     int64
	order, tiebreak leaderboard.Order
}

// question is one question, and the period as who asks knows it.
type question struct {
	leaderboard.Question
	ref leaderboard.PeriodRef
}

// entriesPerUnit is how many entries of a page count as much as a member: reading is cheap once the place is found.
const entriesPerUnit = 32

func (q question) size() int {
	switch {
	case q.Page != nil:
		return 1 + q.Page.Limit/entriesPerUnit
	case q.Members != nil:
		return max(1, len(q.Members.Members))
	default:
		return 1
	}
}

// NewRankings puts the questions to database in batches.
func NewRankings(database leaderboard.BatchRankings, o Options) *Rankings {
	r := &Rankings{database: database}
	r.batches = New(o, question.size, r.answer)
	return r
}

func (r *Rankings) answer(ctx context.Context, _ periodKey, questions []question, answers []Answer[leaderboard.Answer]) error {
	asked := make([]leaderboard.Question, len(questions))
	for i := range questions {
		asked[i] = questions[i].Question
	}
	got, err := r.database.Ask(ctx, questions[0].ref, asked)
	for i := range got {
		answers[i] = Answer[leaderboard.Answer]{Value: got[i], Err: got[i].Err}
	}
	return err
}

func (r *Rankings) ask(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.Question) (leaderboard.Answer, error) {
	key := periodKey{id: p.ID, history: p.History}
	if p.Rules != nil {
		key.order, key.tiebreak = p.Rules.Order, p.Rules.Tiebreak.Order
	}
	a, err := r.batches.Ask(ctx, key, question{q, p})
	return a, unavailable(err)
}

// unavailable gives an error its meaning: the database had its time and did not answer.
func unavailable(err error) error {
	if err != nil && errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, leaderboard.ErrUnavailable) {
		return fmt.Errorf("%w: %w", leaderboard.ErrUnavailable, err)
	}
	return err
}

// Page implements leaderboard.Rankings.
func (r *Rankings) Page(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error) {
	a, err := r.ask(ctx, p, leaderboard.Question{Page: &q})
	return a.Page, err
}

// Members implements leaderboard.Rankings.
func (r *Rankings) Members(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.MembersQuery) (*leaderboard.Standings, error) {
	a, err := r.ask(ctx, p, leaderboard.Question{Members: &q})
	return a.Members, err
}

// ScoreRank implements leaderboard.Rankings.
func (r *Rankings) ScoreRank(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.ScoreQuery) (*leaderboard.ScoreRank, error) {
	a, err := r.ask(ctx, p, leaderboard.Question{Score: &q})
	return a.Score, err
}

// Distribution implements leaderboard.Rankings. It goes alone.
func (r *Rankings) Distribution(ctx context.Context, p leaderboard.PeriodRef, q leaderboard.DistributionQuery) (d *leaderboard.Distribution, err error) {
	err = r.Alone(ctx, func(ctx context.Context) (err error) {
		d, err = r.database.Distribution(ctx, p, q)
		return err
	})
	return d, err
}

// Waiting returns how many questions wait to be sent.
func (r *Rankings) Waiting() int { return r.batches.Waiting() }

// Alone runs work that asks the database for something else, within the same bounds.
func (r *Rankings) Alone(ctx context.Context, work func(context.Context) error) error {
	return unavailable(r.batches.Alone(ctx, work))
}
