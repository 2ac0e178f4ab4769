package storetest

import (
	"context"
	"reflect"
	"slices"

	"leaderboard"
	"leaderboard/store"
)

type acrossKey struct {
	entries []leaderboard.BoardSubmission
	receipt leaderboard.AcrossReceipt
}

// SubmitAcross is store.Store.SubmitAcross.
func (m *Model) SubmitAcross(ctx context.Context, r store.AcrossRequest) (leaderboard.AcrossReceipt, error) {
	defer m.leave()
	if err := m.enter(ctx); err != nil {
		return leaderboard.AcrossReceipt{}, err
	}
	if known, ok := m.across[r.Key]; ok && r.Key != "" {
		if len(known.entries) != len(r.Entries) || (len(r.Entries) > 0 && !reflect.DeepEqual(known.entries, r.Entries)) {
			return leaderboard.AcrossReceipt{}, leaderboard.ErrKeyReused
		}
		return known.receipt, nil
	}
	receipt := leaderboard.AcrossReceipt{
		Results: make([]leaderboard.BoardResult, len(r.Entries)), Boards: map[string]leaderboard.BoardSeqs{},
	}
	subs, places := map[string][]leaderboard.Submission{}, map[string][]int{}
	for i, e := range r.Entries {
		subs[e.Board], places[e.Board] = append(subs[e.Board], e.Submission), append(places[e.Board], i)
		receipt.Results[i] = leaderboard.BoardResult{Board: e.Board, Result: leaderboard.Result{
			Member: e.Member, Status: leaderboard.StatusRejected, Rule: leaderboard.NoBoard(),
		}}
	}
	for name := range subs {
		b := m.boards[name]
		if b == nil {
			continue
		}
		if b.Rules.Derive != nil {
			for i, at := range places[name] {
				if receipt.Results[at].Rule = leaderboard.AsRule(leaderboard.CheckMember(subs[name][i].Member)); receipt.Results[at].Rule == nil {
					receipt.Results[at].Rule = leaderboard.NotToDerived()
				}
			}
			continue
		}
		of := m.submitTo(b, subs[name])
		for i, at := range places[name] {
			receipt.Results[at].Result = of.Results[i]
		}
		receipt.Boards[name] = leaderboard.BoardSeqs{Seq: of.Seq, Seqs: of.Seqs}
	}
	if r.Key != "" {
		m.across[r.Key] = acrossKey{slices.Clone(r.Entries), receipt}
	}
	return receipt, nil
}
