package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"leaderboard"
	"leaderboard/store/internal/db"
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
// all of them are, or none. Entries of boards that do not exist are rejected, like those that break a rule, and so are
// those of derived boards, which it does not wait for. Otherwise it is Submit, with idempotency keys of its own. Errors: ErrKeyReused, ErrOverloaded, ErrUnavailable, ErrOutcomeUnknown.
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

// applyAcross carries a request out on the boards that were found. Derived ones are among them only when that they are
// derived was not known before the lock; the answer is the same.
func (r *request) applyAcross(boards map[string]*found, derived map[string]bool) leaderboard.AcrossReceipt {
	receipt := leaderboard.AcrossReceipt{
		Results: make([]leaderboard.BoardResult, len(r.entries)), Boards: map[string]leaderboard.BoardSeqs{},
	}
	for i, sub := range r.entries {
		name := r.boards[i]
		receipt.Results[i] = leaderboard.BoardResult{Board: name, Result: leaderboard.Result{
			Member: sub.Member, Status: leaderboard.StatusRejected, Rule: leaderboard.NoBoard(),
		}}
		switch f := boards[name]; {
		case f.derived() || derived[name]:
			if receipt.Results[i].Rule = leaderboard.AsRule(leaderboard.CheckMember(sub.Member)); receipt.Results[i].Rule == nil {
				receipt.Results[i].Rule = leaderboard.NotToDerived()
			}
		case f != nil:
			receipt.Results[i].Result = submitAll(f.periods, sub)
		}
	}
	for _, name := range r.boards {
		if f := boards[name]; f != nil && !f.derived() {
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

// derived says whether the rules that were found are those of a derived board; nil is no board.
func (f *found) derived() bool { return f != nil && f.rules.rules.Derive != nil }

// lockable are the boards that a batch across boards locks: those that it names, without the derived ones.
func (w *writer) lockable(reqs []*request) []string {
	return slices.DeleteFunc(boardsOf(reqs), func(name string) bool { return w.derived[name] })
}

// derivedAmong are those of the boards that are derived. They take no entries, so a batch does without their gates and
// locks, which a step of theirs may hold for seconds: boards that have nothing to do with it would wait, too. The
// database is asked only about boards that are not remembered as ordinary ones; what is remembered of a derived board is
// not enough, because nobody who submits to it would find out that another server has made it an ordinary one. When the
// answer does not come, the locks decide as of any board.
func (s *Store) derivedAmong(names []string) map[string]bool {
	unsure := slices.DeleteFunc(names, func(name string) bool {
		v, ok := s.rules.Load(name)
		return ok && v.(*boardRules).rules.Derive == nil
	})
	if len(unsure) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), s.cfg.ReadTimeout)
	defer cancel()
	derived := map[string]bool{}
	for chunk := range slices.Chunk(unsure, db.MaxRows) {
		var found [][]byte
		if err := s.db.SelectContext(ctx, &found, s.db.Limited(derivedQuery(chunk))); err != nil {
			s.db.Log.Debug("it is not known which boards are derived", "error", err)
		}
		for _, name := range found {
			derived[string(name)] = true
		}
	}
	return derived
}

func derivedQuery(names []string) string {
	t := (&db.Text{}).Str("SELECT b.name FROM boards b STRAIGHT_JOIN derived_boards d ON d.board_id = b.id WHERE b.state = 'open' AND b.name IN (")
	return t.Hexes(names).Str(")").String()
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
		return db.Wrap("submit", fmt.Errorf("an idempotency key has at most %d bytes", maxKey))
	}
	return nil
}
