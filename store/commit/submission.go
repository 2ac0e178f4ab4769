package commit

import (
	"errors"
	"slices"

	"leaderboard/leaderboard"
)

// submission submits entries to one board.
type submission struct {
	header
	entries []leaderboard.Submission
	atomic  bool
	moves   bool                // the receipt tells of them
	receipt leaderboard.Receipt // after apply
}

func newSubmission(r *leaderboard.SubmitRequest) *submission {
	var bytes int64
	var metadata metadataLoad
	for i := range r.Entries {
		bytes += sizeOf(&r.Entries[i])
		metadata.add(&r.Entries[i])
	}
	s := &submission{
		header:  headerOf(queueID{board: r.Board}, []string{r.Board}, len(r.Entries), bytes),
		entries: slices.Clone(r.Entries), atomic: r.Atomic, moves: r.Moves,
	}
	s.load.cost += metadata.cost()
	if r.Key != "" {
		s.key, s.hash = r.Key, hashOf(requestHash(r.Entries), r.Atomic)
	}
	return s
}

func (s *submission) collect(of func(board string) *Needs) { of(s.queue.board).addAll(s.entries) }

func (s *submission) apply(l *locked) error {
	b, err := l.board(s.queue.board)
	if err != nil {
		return err
	}
	s.receipt = leaderboard.Receipt{Results: make([]leaderboard.Result, len(s.entries))}
	list := make([]Attempt, len(s.entries))
	for i := range list {
		list[i] = Attempt{Board: b, Sub: &s.entries[i], Caller: &s.caller, result: &s.receipt.Results[i]}
	}
	carry := func() {
		for i := range list {
			*list[i].result = withMove(b.submit(&list[i]), s.moves)
		}
	}
	if s.atomic {
		allOrNone(list, carry)
	} else {
		carry()
	}
	s.receipt.Seq, s.receipt.Seqs = seqsOf(b.periods)
	s.tellFirst(b)
	return nil
}

// tellFirst puts the period of the moves into the receipt.
func (s *submission) tellFirst(b *Board) {
	if s.moves {
		s.receipt.First = firstOf(b.periods)
	}
}

// withMove leaves the old and the new key out of a result, unless they are wanted.
func withMove(r leaderboard.Result, wanted bool) leaderboard.Result {
	if !wanted {
		r.Old, r.New = nil, nil
	}
	return r
}

func (s *submission) stored() []byte { return encodeReceipt(&s.receipt, s.entries) }

func (s *submission) replay(l *locked, stored []byte) (err error) {
	if s.receipt, err = decodeReceipt(stored, s.entries); err != nil {
		return err
	}
	s.receipt.Replayed = true
	if b := l.boards[s.queue.board]; b != nil {
		s.tellFirst(b)
	}
	return nil
}

// multiBoardSubmission submits entries to several boards.
type multiBoardSubmission struct {
	header
	entries []leaderboard.BoardSubmission
	atomic  bool
	moves   bool                          // the receipt tells of them
	receipt leaderboard.MultiBoardReceipt // after apply
}

func newMultiBoardSubmission(r *leaderboard.MultiBoardRequest) *multiBoardSubmission {
	names := make([]string, len(r.Entries))
	var bytes int64
	var metadata metadataLoad
	for i := range r.Entries {
		names[i] = r.Entries[i].Board
		bytes += sizeOf(&r.Entries[i].Submission)
		metadata.add(&r.Entries[i].Submission)
	}
	slices.Sort(names)
	s := &multiBoardSubmission{
		header:  headerOf(queueID{several: true}, slices.Compact(names), len(r.Entries), bytes),
		entries: slices.Clone(r.Entries), atomic: r.Atomic, moves: r.Moves,
	}
	s.load.cost += metadata.cost()
	if r.Key != "" {
		s.key, s.hash = r.Key, hashOf(multiBoardHash(r.Entries), r.Atomic)
	}
	return s
}

// collect leaves names out that no board can have.
func (s *multiBoardSubmission) collect(of func(board string) *Needs) {
	for i := range s.entries {
		if e := &s.entries[i]; leaderboard.CheckBoardName(e.Board) == nil {
			of(e.Board).add(&e.Submission)
		}
	}
}

// apply rejects entries of boards that do not exist, that have a rule that this server does not know, and of derived ones. These are
// among the locked boards only when it was not known before the lock that they are derived; the answer is the same.
func (s *multiBoardSubmission) apply(l *locked) error {
	for _, name := range s.boards {
		if err := l.without[name]; s.atomic && errors.Is(err, leaderboard.ErrUnknownRule) {
			return err // a repetition finds a server that knows the rule
		}
	}
	s.receipt = leaderboard.MultiBoardReceipt{
		Results: make([]leaderboard.BoardResult, len(s.entries)), Boards: map[string]leaderboard.BoardSeqs{},
	}
	list := s.attempts(l)
	if carry := func() { s.carry(l, list) }; s.atomic {
		allOrNone(list, carry)
	} else {
		carry()
	}
	for _, name := range s.boards {
		if b := l.boards[name]; b != nil && b.known.Board.Rules.Derive == nil {
			seq, seqs := seqsOf(b.periods)
			s.receipt.Boards[name] = leaderboard.BoardSeqs{Seq: seq, Seqs: seqs}
		}
	}
	s.tellFirst(l)
	return nil
}

// carry applies the entries in order.
func (s *multiBoardSubmission) carry(l *locked, list []Attempt) {
	for i := range s.entries {
		e := &s.entries[i]
		s.receipt.Results[i] = leaderboard.BoardResult{Board: e.Board, Result: withMove(l.submit(e, &list[i]), s.moves)}
	}
}

// attempts returns the entries with their boards and the places of their results.
func (s *multiBoardSubmission) attempts(l *locked) []Attempt {
	list := make([]Attempt, len(s.entries))
	for i := range list {
		e := &s.entries[i]
		list[i] = Attempt{Board: l.taker(e.Board), Sub: &e.Submission, Caller: &s.caller, result: &s.receipt.Results[i].Result}
	}
	return list
}

// taker returns the board of a name that takes submissions, nil when there is none.
func (l *locked) taker(name string) *Board {
	b := l.boards[name]
	if l.derived[name] || b != nil && b.known.Board.Rules.Derive != nil {
		return nil
	}
	return b
}

// tellFirst puts the period of each board's moves into the receipt.
func (s *multiBoardSubmission) tellFirst(l *locked) {
	for name, seqs := range s.receipt.Boards {
		if b := l.boards[name]; b != nil && s.moves {
			seqs.First = firstOf(b.periods)
			s.receipt.Boards[name] = seqs
		}
	}
}

// submit applies one entry to its board.
func (l *locked) submit(e *leaderboard.BoardSubmission, a *Attempt) leaderboard.Result {
	if a.Board != nil {
		return a.Board.submit(a)
	}
	rejected := leaderboard.Result{Member: e.Member, Status: leaderboard.StatusRejected, Rule: leaderboard.NoBoard()}
	if err := l.without[e.Board]; errors.Is(err, leaderboard.ErrUnknownRule) {
		rejected.Rule = &leaderboard.RuleError{Code: leaderboard.ErrUnknownRule.Code, Detail: err.Error()}
		return rejected
	}
	if l.derived[e.Board] || l.boards[e.Board] != nil {
		if rejected.Rule = leaderboard.AsRule(leaderboard.CheckMember(e.Member)); rejected.Rule == nil {
			rejected.Rule = leaderboard.NotToDerived()
		}
	}
	return rejected
}

func (s *multiBoardSubmission) stored() []byte {
	return encodeMultiBoardReceipt(&s.receipt, s.entries)
}

func (s *multiBoardSubmission) replay(l *locked, stored []byte) (err error) {
	if s.receipt, err = decodeMultiBoardReceipt(stored, s.entries); err != nil {
		return err
	}
	s.receipt.Replayed = true
	s.tellFirst(l)
	return nil
}

// submit applies a submission to the board's current periods.
func (b *Board) submit(a *Attempt) (res leaderboard.Result) {
	broken := leaderboard.AsRule(b.known.Board.Rules.Allow(a.Sub.Edit, a.Caller))
	if broken == nil {
		broken = first(b, func(p Judge) error { return p.Before(a) })
	}
	if broken != nil {
		res = b.refuse(a, b.periods[0].entry(a.Sub.Member), broken)
	} else {
		res = b.carryOut(a)
	}
	b.done(a, &res)
	return res
}

// carryOut applies a submission that may be made to the board's current periods, unless a part holds it.
func (b *Board) carryOut(a *Attempt) leaderboard.Result {
	decisions := decideAll(b.periods, *a.Sub)
	if decisions[0].broken == nil {
		if why := first(b, func(p Holder) error { return p.Decided(a, decisions) }); why != nil {
			return b.refuse(a, decisions[0].cur, why)
		}
	}
	return b.carryOutAll(a, decisions)
}

// refuse returns the result of a submission that leaves the entry of its member as it is.
func (b *Board) refuse(a *Attempt, cur *leaderboard.Entry, why *leaderboard.RuleError) leaderboard.Result {
	res := leaderboard.Result{Member: a.Sub.Member}
	b.periods[0].show(&res, cur, a.Sub)
	res.Fail(why)
	return res
}
