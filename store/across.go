package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"leaderboard"
)

// AcrossRequest is one request to submit scores to several boards; its entries are applied in order, in one transaction.
type AcrossRequest struct {
	Key     string // idempotency key of at most 128 bytes, "" for none
	Entries []leaderboard.BoardSubmission
}

// The queue of what is submitted across boards is called like no board, and its idempotency keys belong to none.
const (
	acrossQueue   = ""
	acrossBoardID = 0
)

// SubmitAcross applies the entries to all current periods of their boards and returns when the transaction is committed:
// all of them are, or none. Entries of boards that do not exist are rejected, like those that break a rule. Otherwise it
// is Submit, with idempotency keys of its own. Errors: ErrKeyReused, ErrOverloaded, ErrUnavailable, ErrOutcomeUnknown.
func (s *Store) SubmitAcross(ctx context.Context, r AcrossRequest) (leaderboard.AcrossReceipt, error) {
	if err := checkKey(r.Key); err != nil {
		return leaderboard.AcrossReceipt{}, err
	}
	req := &request{key: r.Key, done: make(chan answer, 1)}
	req.entries, req.boards = make([]leaderboard.Submission, len(r.Entries)), make([]string, len(r.Entries))
	for i, e := range r.Entries {
		req.entries[i], req.boards[i] = e.Submission, e.Board
	}
	if r.Key != "" {
		req.hash = acrossHash(req.entries, req.boards)
	}
	a, err := s.enqueue(ctx, acrossQueue, req)
	return a.across, err
}

// acrossHash is requestHash of a request across boards.
func acrossHash(entries []leaderboard.Submission, boards []string) [sha256.Size]byte {
	hash := requestHash(entries)
	b := hash[:]
	for _, name := range boards {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(name))), name...)
	}
	return sha256.Sum256(b)
}

// applyAcross carries a request out on the boards that were found.
func (r *request) applyAcross(boards map[string]*found) leaderboard.AcrossReceipt {
	receipt := leaderboard.AcrossReceipt{
		Results: make([]leaderboard.BoardResult, len(r.entries)), Boards: map[string]leaderboard.BoardSeqs{},
	}
	for i, sub := range r.entries {
		name := r.boards[i]
		receipt.Results[i] = leaderboard.BoardResult{Board: name, Result: leaderboard.Result{
			Member: sub.Member, Status: leaderboard.Rejected, Rule: leaderboard.NoBoard(),
		}}
		if f := boards[name]; f != nil {
			receipt.Results[i].Result = submitAll(f.periods, sub)
		}
	}
	for _, name := range r.boards {
		if f := boards[name]; f != nil {
			var of leaderboard.Receipt
			seqsOf(&of, f.periods)
			receipt.Boards[name] = leaderboard.BoardSeqs{Seq: of.Seq, Seqs: of.Seqs}
		}
	}
	return receipt
}

// boardsOf are the boards that a batch names, each once. Names that no board can have are left out.
func boardsOf(reqs []*request) []string {
	var names []string
	for _, r := range reqs {
		names = append(names, r.boards...)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return leaderboard.CheckBoardName(name) != nil })
}

// partsOf are the entries of each board, as one request without a key: what has to be read for it.
func partsOf(reqs []*request) map[string]*request {
	parts := map[string]*request{}
	for _, r := range reqs {
		for i, name := range r.boards {
			if parts[name] == nil {
				parts[name] = &request{}
			}
			parts[name].entries = append(parts[name].entries, r.entries[i])
		}
	}
	return parts
}

func checkKey(key string) error {
	if len(key) > maxKey {
		return wrap("submit", fmt.Errorf("an idempotency key has at most %d bytes", maxKey))
	}
	return nil
}
