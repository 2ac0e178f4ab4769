package leaderboard

import "context"

// Question is a question about one period that can be asked together with others: exactly one of the queries.
type Question struct {
	Page    *PageQuery
	Members *MembersQuery
	Score   *ScoreQuery
}

// Answer is the answer to a Question: that of its query, or why there is none.
type Answer struct {
	Page    *Page
	Members *Standings
	Score   *ScoreRank
	Err     error
}

// BatchRankings answers several questions about one period at once, all at one state of it, for hardly more than the
// price of one. Ask returns an answer to each question; one that fails, such as that about a member who is not ranked,
// fails alone. The error is that of all of them.
type BatchRankings interface {
	Rankings
	Ask(ctx context.Context, p PeriodRef, questions []Question) ([]Answer, error)
}

// AskEach puts one question after the other: the meaning of BatchRankings.Ask, but for the one state.
func AskEach(ctx context.Context, r Rankings, p PeriodRef, questions []Question) []Answer {
	out := make([]Answer, len(questions))
	for i, q := range questions {
		switch a := &out[i]; {
		case q.Page != nil:
			a.Page, a.Err = r.Page(ctx, p, *q.Page)
		case q.Members != nil:
			a.Members, a.Err = r.Members(ctx, p, *q.Members)
		default:
			a.Score, a.Err = r.ScoreRank(ctx, p, *q.Score)
		}
	}
	return out
}
