package commit

import (
	"errors"
	"slices"

	"leaderboard"
)

// submission submits entries to one board.
type submission struct {
	header
	entries []leaderboard.Submission
	receipt leaderboard.Receipt // after apply
}

func newSubmission(r *leaderboard.SubmitRequest) *submission {
	var bytes int64
	for i := range r.Entries {
		bytes += sizeOf(&r.Entries[i])
	}
	s := &submission{
		header:  headerOf(queueID{board: r.Board}, []string{r.Board}, len(r.Entries), bytes),
		entries: slices.Clone(r.Entries),
	}
	if r.Key != "" {
		s.key, s.hash = r.Key, requestHash(r.Entries)
	}
	return s
}

func (s *submission) collect(of func(board string) *needs) { of(s.queue.board).submissions(s.entries) }

func (s *submission) apply(l *locked) error {
	b, err := l.board(s.queue.board)
	if err != nil {
		return err
	}
	s.receipt = leaderboard.Receipt{Results: make([]leaderboard.Result, 0, len(s.entries))}
	for _, sub := range s.entries {
		s.receipt.Results = append(s.receipt.Results, b.submit(sub, &s.caller))
	}
	s.receipt.Seq, s.receipt.Seqs = seqsOf(b.periods)
	return nil
}

func (s *submission) stored() []byte { return encodeReceipt(&s.receipt, s.entries) }

func (s *submission) replay(stored []byte) (err error) {
	s.receipt, err = decodeReceipt(stored, s.entries)
	return err
}

// multiBoardSubmission submits entries to several boards.
type multiBoardSubmission struct {
	header
	entries []leaderboard.BoardSubmission
	receipt leaderboard.MultiBoardReceipt // after apply
}

func newMultiBoardSubmission(r *leaderboard.MultiBoardRequest) *multiBoardSubmission {
	names := make([]string, len(r.Entries))
	var bytes int64
	for i := range r.Entries {
		names[i] = r.Entries[i].Board
		bytes += sizeOf(&r.Entries[i].Submission)
	}
	slices.Sort(names)
	s := &multiBoardSubmission{
		header:  headerOf(queueID{several: true}, slices.Compact(names), len(r.Entries), bytes),
		entries: slices.Clone(r.Entries),
	}
	if r.Key != "" {
		s.key, s.hash = r.Key, multiBoardHash(r.Entries)
	}
	return s
}

// collect leaves names out that no board can have.
func (s *multiBoardSubmission) collect(of func(board string) *needs) {
	for i := range s.entries {
		if e := &s.entries[i]; leaderboard.CheckBoardName(e.Board) == nil {
			of(e.Board).submission(&e.Submission)
		}
	}
}

// apply rejects entries of boards that do not exist, and of derived ones. These are among the locked boards only when
// it was not known before the lock that they are derived; the answer is the same.
func (s *multiBoardSubmission) apply(l *locked) error {
	for _, name := range s.boards { // what is stored as rejected would stay so on a server that knows the rule
		if err := l.without[name]; errors.Is(err, leaderboard.ErrUnknownRule) {
			return err
		}
	}
	s.receipt = leaderboard.MultiBoardReceipt{
		Results: make([]leaderboard.BoardResult, len(s.entries)), Boards: map[string]leaderboard.BoardSeqs{},
	}
	for i, e := range s.entries {
		s.receipt.Results[i] = leaderboard.BoardResult{Board: e.Board, Result: l.submit(e, &s.caller)}
	}
	for _, name := range s.boards {
		if b := l.boards[name]; b != nil && b.known.Board.Rules.Derive == nil {
			seq, seqs := seqsOf(b.periods)
			s.receipt.Boards[name] = leaderboard.BoardSeqs{Seq: seq, Seqs: seqs}
		}
	}
	return nil
}

// submit applies one entry to its board.
func (l *locked) submit(e leaderboard.BoardSubmission, caller *leaderboard.Caller) leaderboard.Result {
	rejected := leaderboard.Result{Member: e.Member, Status: leaderboard.StatusRejected, Rule: leaderboard.NoBoard()}
	switch b := l.boards[e.Board]; {
	case l.derived[e.Board] || b != nil && b.known.Board.Rules.Derive != nil:
		if rejected.Rule = leaderboard.AsRule(leaderboard.CheckMember(e.Member)); rejected.Rule == nil {
			rejected.Rule = leaderboard.NotToDerived()
		}
	case b != nil:
		return b.submit(e.Submission, caller)
	}
	return rejected
}

func (s *multiBoardSubmission) stored() []byte {
	return encodeMultiBoardReceipt(&s.receipt, s.entries)
}

func (s *multiBoardSubmission) replay(stored []byte) (err error) {
	s.receipt, err = decodeMultiBoardReceipt(stored, s.entries)
	return err
}

// submit applies a submission to the board's current periods, and records it if the board wants that.
func (b *lockedBoard) submit(sub leaderboard.Submission, caller *leaderboard.Caller) leaderboard.Result {
	res := submitAll(b.periods, sub)
	rules := &b.known.Board.Rules
	if !rules.Record.Keeps(res.Status) || leaderboard.CheckMember(sub.Member) != nil { // what is no id has no past
		return res
	}
	rec := leaderboard.SubmissionRecord{
		Member: sub.Member, Status: res.Status, Score: sub.Score, Previous: res.Previous, NewScore: res.Score, Seq: b.periods[0].lastSeq,
		Actor: caller.Key, RequestID: caller.RequestID,
	}
	if sub.Tiebreak != nil || sub.Fields != nil {
		if packed, err := rules.Tiebreak.Resolve(sub.Tiebreak, sub.Fields, nil); err == nil {
			rec.Tiebreak = &packed
		}
	}
	if res.Rule != nil {
		rec.Code, rec.Detail = res.Rule.Code, res.Rule.Detail
	}
	b.records = append(b.records, rec)
	return res
}
