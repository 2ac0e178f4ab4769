package store_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"leaderboard/leaderboard"
	"leaderboard/rank"
	"leaderboard/store"
)

// observed is an answer to a query, to be judged when the log of the period is known.
type observed struct {
	state leaderboard.State
	about string
	judge func(*replay) error
}

// replay is a period as its log says it was at one seq.
type replay struct {
	rules  *leaderboard.Rules
	sorted []leaderboard.Entry
	byID   map[string]leaderboard.Entry
}

// checkReplay replays the log and holds each answer against the state that it names.
func checkReplay(t *testing.T, s *store.Store, ref leaderboard.PeriodRef, answers []observed) {
	t.Helper()
	slices.SortFunc(answers, func(a, b observed) int { return int(a.state.Seq - b.state.Seq) })
	r := &replay{rules: ref.Rules, byID: map[string]leaderboard.Entry{}}
	for seq := int64(0); len(answers) > 0; {
		commits, err := s.Entries.Changes(t.Context(), ref.ID, seq, 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(commits) == 0 {
			t.Fatalf("%d answers name states that the log does not lead to, the first %+v", len(answers), answers[0].state)
		}
		for _, c := range commits {
			for ; len(answers) > 0 && answers[0].state.Seq < c.LastSeq; answers = answers[1:] {
				if answers[0].state.Seq != c.From().Seq {
					t.Fatalf("an answer at seq %d, which is inside a commit", answers[0].state.Seq)
				}
				r.check(t, answers[0])
			}
			r.apply(c)
			seq = c.LastSeq
			for ; len(answers) > 0 && answers[0].state.Seq == seq; answers = answers[1:] {
				r.check(t, answers[0])
				if got, want := answers[0].state.AsOf, c.CommittedAt; got != want {
					t.Errorf("an answer at seq %d is as of %s, want %s", seq, got, want)
				}
			}
		}
	}
}

func (r *replay) check(t *testing.T, a observed) {
	t.Helper()
	if int(a.state.Total) != len(r.sorted) {
		t.Fatalf("%s at seq %d: %d entries, want %d", a.about, a.state.Seq, a.state.Total, len(r.sorted))
	}
	if err := a.judge(r); err != nil {
		t.Fatalf("%s at seq %d: %v", a.about, a.state.Seq, err)
	}
}

func (r *replay) apply(c leaderboard.Commit) {
	for _, ch := range c.Changes {
		if ch.Old != nil {
			i, ok := slices.BinarySearchFunc(r.sorted, *ch.Old, r.rules.Compare)
			if ok {
				r.sorted = slices.Delete(r.sorted, i, i+1)
			}
			delete(r.byID, ch.Member)
		}
		if ch.New != nil {
			i, _ := slices.BinarySearchFunc(r.sorted, *ch.New, r.rules.Compare)
			r.sorted = slices.Insert(r.sorted, i, *ch.New)
			r.byID[ch.Member] = *ch.New
		}
	}
}

// ranked numbers the entries from start to stop, with the ranks that an answer in the mode has.
func (r *replay) ranked(start, stop int64, mode leaderboard.Mode) []leaderboard.Ranked {
	total := int64(len(r.sorted))
	start, stop = min(start, total), min(stop, total)
	keys := make([]rank.Key, total)
	for i, e := range r.sorted {
		keys[i] = rank.CodecOf(r.rules).Key(e)
	}
	first := rank.Top()
	if !mode.WithDense() {
		first.Dense = 0
	}
	ranks := rank.Number(first, keys)
	out := make([]leaderboard.Ranked, 0, stop-start)
	for i := start; i < stop; i++ {
		out = append(out, leaderboard.Ranked{Ranks: ranks[i], Entry: r.sorted[i]})
	}
	return out
}

// place returns the number of entries ahead of e, whether it is there or not.
func (r *replay) place(e leaderboard.Entry) int64 {
	i, _ := slices.BinarySearchFunc(r.sorted, e, r.rules.Compare)
	return int64(i)
}

// tied returns the tied rank of an entry with these criteria.
func (r *replay) tied(e leaderboard.Entry) int64 {
	e.CreatedTime, e.Member = leaderboard.MinTime-1, ""
	return r.place(e) + 1
}

func observePage(ctx context.Context, rankings leaderboard.Rankings, ref leaderboard.PeriodRef, q leaderboard.PageQuery) (observed, error) {
	page, err := rankings.Page(ctx, ref, q)
	if err != nil {
		return observed{}, err
	}
	return observed{page.State, fmt.Sprintf("%+v", q), func(r *replay) error {
		start := q.Offset
		switch {
		case q.Around != "":
			start = max(0, min(r.place(r.byID[q.Around])-int64(q.Before), int64(len(r.sorted)-q.Limit)))
		case q.After != "":
			e, err := rank.CodecOf(r.rules).Entry(rank.Key(q.After))
			if err != nil {
				return err
			}
			if start = r.place(e); start < int64(len(r.sorted)) && r.sorted[start] == e {
				start++
			}
		}
		if want := r.ranked(start, start+int64(q.Limit), q.Mode); !reflect.DeepEqual(page.Entries, want) {
			return fmt.Errorf("got %v, want %v", page.Entries, want)
		}
		return nil
	}}, nil
}

func observeMembers(ctx context.Context, rankings leaderboard.Rankings, ref leaderboard.PeriodRef, q leaderboard.MembersQuery) (observed, error) {
	got, err := rankings.Members(ctx, ref, q)
	if err != nil {
		return observed{}, err
	}
	return observed{got.State, fmt.Sprintf("%+v", q), func(r *replay) error {
		for _, m := range got.NotRanked {
			if e, ok := r.byID[m]; ok {
				return fmt.Errorf("%q is not ranked, want %+v", m, e)
			}
		}
		if n := len(got.NotRanked) + len(got.Entries); n != len(q.Members) {
			return fmt.Errorf("%d of %d members", n, len(q.Members))
		}
		position := leaderboard.Ranks{}
		for i, e := range got.Entries {
			position.Strict = int64(i) + 1
			if i == 0 || e.Score != got.Entries[i-1].Score || e.Tiebreak != got.Entries[i-1].Tiebreak {
				position.Tied = position.Strict
				position.Dense++
			}
			place := r.place(e.Entry)
			want := leaderboard.Standing{Ranked: r.ranked(place, place+1, q.Mode)[0], Position: position}
			if e != want {
				return fmt.Errorf("got %+v, want %+v", e, want)
			}
		}
		return nil
	}}, nil
}

func observeScore(ctx context.Context, rankings leaderboard.Rankings, ref leaderboard.PeriodRef, q leaderboard.ScoreQuery) (observed, error) {
	got, err := rankings.ScoreRank(ctx, ref, q)
	if err != nil {
		return observed{}, err
	}
	return observed{got.State, fmt.Sprintf("%+v", q), func(r *replay) error {
		last := leaderboard.Entry{Score: q.Score, Tiebreak: q.Tiebreak, CreatedTime: leaderboard.Forever, Member: "\xff"}
		if strict, tied := r.place(last)+1, r.tied(last); got.Strict != strict || got.Tied != tied {
			return fmt.Errorf("got %d and %d, want %d and %d", got.Strict, got.Tied, strict, tied)
		}
		return nil
	}}, nil
}

func observeDistribution(ctx context.Context, rankings leaderboard.Rankings, ref leaderboard.PeriodRef, q leaderboard.DistributionQuery) (observed, error) {
	got, err := rankings.Distribution(ctx, ref, q)
	if err != nil {
		return observed{}, err
	}
	return observed{got.State, fmt.Sprintf("%+v", q), func(r *replay) error {
		sum := int64(0)
		for _, b := range got.Buckets {
			n := int64(0)
			for _, e := range r.sorted {
				if e.Score >= b.From && e.Score <= b.To {
					n++
				}
			}
			if n != b.Count {
				return fmt.Errorf("%d entries from %d to %d, want %d", b.Count, b.From, b.To, n)
			}
			sum += n
		}
		if int(sum) != len(r.sorted) {
			return fmt.Errorf("%d entries in all buckets, want %d", sum, len(r.sorted))
		}
		return nil
	}}, nil
}
