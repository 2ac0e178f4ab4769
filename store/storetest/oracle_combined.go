package storetest

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"leaderboard/leaderboard"
)

// CombinedOracle knows every past state of the periods of several boards, and the combined ranking of several states: it
// replays the change logs and merges naively.
type CombinedOracle struct {
	refs   []leaderboard.PeriodRef
	states []map[int64][]leaderboard.Entry // by seq
}

// NewCombinedOracle plays the logs, which have to go back to the beginning.
func NewCombinedOracle(ctx context.Context, database Database, refs []leaderboard.PeriodRef) (*CombinedOracle, error) {
	o := &CombinedOracle{refs: refs}
	for _, ref := range refs {
		states, entries := map[int64][]leaderboard.Entry{0: nil}, map[string]leaderboard.Entry{}
		for at := int64(0); ; {
			commits, err := database.Changes(ctx, ref.ID, at, 1000)
			if err != nil {
				return nil, err
			}
			for _, c := range commits {
				for _, change := range c.Changes {
					delete(entries, change.Member)
					if change.New != nil {
						entries[change.Member] = *change.New
					}
				}
				at = c.LastSeq
				states[at] = slices.Collect(maps.Values(entries))
			}
			if len(commits) == 0 {
				break
			}
		}
		o.states = append(o.states, states)
	}
	return o, nil
}

// look returns the entries at the states that an answer names.
func (o *CombinedOracle) look(states []leaderboard.State) (*combinedLook, error) {
	if len(states) != len(o.refs) {
		return nil, fmt.Errorf("%d states of %d periods", len(states), len(o.refs))
	}
	l := &combinedLook{rules: o.refs[0].Rules}
	for i, st := range states {
		entries, ok := o.states[i][st.Seq]
		if !ok || st.Total != int64(len(entries)) || st.Stale {
			return nil, fmt.Errorf("board %s was never in the state %+v", o.refs[i].Board, st)
		}
		l.add(o.refs[i].Board, st, entries)
	}
	return l, nil
}

// CheckPage returns how a page differs from the database at its states.
func (o *CombinedOracle) CheckPage(q leaderboard.CombinedQuery, got *leaderboard.CombinedPage) error {
	l, err := o.look(got.States)
	if err != nil {
		return err
	}
	want, err := l.page(q)
	if err != nil {
		return err
	}
	if len(got.Entries) != len(want.Entries) || len(got.Entries) > 0 && !reflect.DeepEqual(got.Entries, want.Entries) ||
		got.Next != want.Next || got.NextBoard != want.NextBoard {
		return fmt.Errorf("%+v at %v:\n%+v next %q %s\nwant\n%+v next %q %s", q, vector(got.States), got.Entries, got.Next, got.NextBoard,
			want.Entries, want.Next, want.NextBoard)
	}
	return nil
}

// CheckMember returns how the standings of a member differ from the database at their states.
func (o *CombinedOracle) CheckMember(mode leaderboard.Mode, member string, got *leaderboard.CombinedStandings) error {
	l, err := o.look(got.States)
	if err != nil {
		return err
	}
	want := l.member(member)
	if len(got.Entries) != len(want.Entries) || len(got.Entries) > 0 && !reflect.DeepEqual(got.Entries, want.Entries) {
		return fmt.Errorf("%s of %s at %v:\n%+v\nwant\n%+v", mode, member, vector(got.States), got.Entries, want.Entries)
	}
	return nil
}

func vector(states []leaderboard.State) []int64 {
	out := make([]int64, len(states))
	for i := range states {
		out[i] = states[i].Seq
	}
	return out
}
