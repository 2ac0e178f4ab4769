package commit

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"maps"
	"slices"

	"leaderboard/internal/varint"
	"leaderboard/leaderboard"
)

// submission submits entries to a board, or to several.
type submission struct {
	header
	entries []leaderboard.Submission
	on      []string // the board of each entry; nil: the board of the queue
	atomic  bool
	moves   bool // results and states say what has moved

	// After apply.
	results  []leaderboard.Result
	states   map[string]leaderboard.BoardSeqs // of the boards that take submissions
	replayed bool
}

func newSubmission(r *leaderboard.SubmitRequest) *submission {
	s := &submission{entries: slices.Clone(r.Entries), atomic: r.Atomic, moves: r.Moves}
	return s.requested(queueID{board: r.Board}, []string{r.Board}, r.Key)
}

func newMultiBoardSubmission(r *leaderboard.MultiBoardRequest) *submission {
	n := len(r.Entries)
	s := &submission{entries: make([]leaderboard.Submission, n), on: make([]string, n), atomic: r.Atomic, moves: r.Moves}
	for i := range r.Entries {
		s.entries[i], s.on[i] = r.Entries[i].Submission, r.Entries[i].Board
	}
	names := slices.Sorted(slices.Values(s.on))
	return s.requested(queueID{several: true}, slices.Compact(names), r.Key)
}

// requested completes a submission for the boards with these names.
func (s *submission) requested(id queueID, boards []string, key string) *submission {
	var bytes int64
	var metadata metadataLoad
	for i := range s.entries {
		bytes += sizeOf(&s.entries[i])
		metadata.add(&s.entries[i])
	}
	s.header = headerOf(id, boards, len(s.entries), bytes)
	s.load.cost += metadata.cost()
	if key != "" {
		s.key, s.hash = key, s.hashOf()
	}
	return s
}

// board returns the board of an entry.
func (s *submission) board(i int) string {
	if s.on == nil {
		return s.queue.board
	}
	return s.on[i]
}

// collect leaves names out that no board can have.
func (s *submission) collect(of func(board string) *Needs) {
	if s.on == nil {
		of(s.queue.board).addAll(s.entries)
		return
	}
	for i := range s.entries {
		if leaderboard.CheckBoardName(s.on[i]) == nil {
			of(s.on[i]).add(&s.entries[i])
		}
	}
}

// apply fails if its only board cannot be written to. Of several it rejects entries of boards that do not exist, that have a
// rule that this server does not know, and of derived ones. These are among the locked boards only when it was not known before
// the lock that they are derived; the answer is the same.
func (s *submission) apply(l *locked) error {
	for _, name := range s.boards {
		if err := l.without[name]; err != nil && (s.on == nil || s.atomic && errors.Is(err, leaderboard.ErrUnknownRule)) {
			return err // a repetition of an atomic request may find a server that knows the rule
		}
	}
	s.results, s.states = make([]leaderboard.Result, len(s.entries)), make(map[string]leaderboard.BoardSeqs, len(s.boards))
	list := make([]Attempt, len(s.entries))
	for i := range list {
		list[i] = Attempt{Board: l.openBoard(s.board(i)), Sub: &s.entries[i], Caller: &s.caller, result: &s.results[i]}
	}
	carry := func() {
		for i := range list {
			*list[i].result = withMove(l.submit(s.board(i), &list[i]), s.moves)
		}
	}
	if s.atomic {
		allOrNone(list, carry)
	} else {
		carry()
	}
	for _, name := range s.boards {
		if b := l.openBoard(name); b != nil {
			seq, seqs := seqsOf(b.periods)
			s.states[name] = leaderboard.BoardSeqs{Seq: seq, Seqs: seqs}
		}
	}
	s.showFirst(l)
	return nil
}

// withMove leaves the old and the new key out of a result, unless they are requested.
func withMove(r leaderboard.Result, wanted bool) leaderboard.Result {
	if !wanted {
		r.Old, r.New = nil, nil
	}
	return r
}

// showFirst puts the period of each board's moves into its state.
func (s *submission) showFirst(l *locked) {
	for name, state := range s.states {
		if b := l.boards[name]; b != nil && s.moves {
			state.First = firstOf(b.periods)
			s.states[name] = state
		}
	}
}

// receipt returns the answer to a submission to one board.
func (s *submission) receipt() leaderboard.Receipt {
	state := s.states[s.queue.board]
	return leaderboard.Receipt{Results: s.results, Seq: state.Seq, Seqs: state.Seqs, First: state.First, Replayed: s.replayed}
}

// multiBoardReceipt returns the answer to a submission to several boards.
func (s *submission) multiBoardReceipt() leaderboard.MultiBoardReceipt {
	out := leaderboard.MultiBoardReceipt{Results: make([]leaderboard.BoardResult, len(s.results)), Boards: s.states, Replayed: s.replayed}
	for i := range s.results {
		out.Results[i] = leaderboard.BoardResult{Board: s.on[i], Result: s.results[i]}
	}
	return out
}

// hashOf returns the hash of the request.
func (s *submission) hashOf() [sha256.Size]byte {
	hash := requestHash(s.entries)
	if s.on != nil {
		b := hash[:]
		for _, board := range s.on {
			b = append(binary.BigEndian.AppendUint64(b, uint64(len(board))), board...)
		}
		hash = sha256.Sum256(b)
	}
	if s.atomic {
		hash = sha256.Sum256(append(hash[:], "atomic"...))
	}
	return hash
}

// stored returns the receipt: the states of the boards, with their names if there may be several, and the results.
func (s *submission) stored() []byte {
	b := []byte{formatOf(s.results, s.entries)}
	if s.on == nil {
		return appendResults(appendSeqs(b, s.states[s.queue.board]), s.results, s.entries)
	}
	b = binary.AppendUvarint(b, uint64(len(s.states)))
	for _, name := range slices.Sorted(maps.Keys(s.states)) {
		b = appendSeqs(varint.AppendText(b, name), s.states[name])
	}
	return appendResults(b, s.results, s.entries)
}

// decode reads the output of stored.
func (s *submission) decode(b []byte) (err error) {
	t := readReceipt(b)
	s.states = map[string]leaderboard.BoardSeqs{}
	if s.on == nil {
		s.states[s.queue.board] = t.seqs()
	} else {
		for range t.Count(len(t.Left)) {
			name := t.Text()
			s.states[name] = t.seqs()
		}
	}
	s.results, err = t.results(s.entries)
	return err
}

// openBoard returns the board of a name if it takes submissions, or nil.
func (l *locked) openBoard(name string) *Board {
	b := l.boards[name]
	if l.derived[name] || b != nil && b.known.Board.Rules.Derive != nil {
		return nil
	}
	return b
}

// submit applies one entry to its board.
func (l *locked) submit(board string, a *Attempt) leaderboard.Result {
	if a.Board != nil {
		return a.Board.submit(a)
	}
	rejected := leaderboard.Result{Member: a.Sub.Member, Status: leaderboard.StatusRejected, Rule: leaderboard.NoBoard()}
	if err := l.without[board]; errors.Is(err, leaderboard.ErrUnknownRule) {
		rejected.Rule = &leaderboard.RuleError{Code: leaderboard.ErrUnknownRule.Code, Detail: err.Error()}
		return rejected
	}
	if l.derived[board] || l.boards[board] != nil {
		if rejected.Rule = leaderboard.AsRule(leaderboard.CheckMember(a.Sub.Member)); rejected.Rule == nil {
			rejected.Rule = leaderboard.NotToDerived()
		}
	}
	return rejected
}

func (s *submission) replay(l *locked, stored []byte) error {
	if err := s.decode(stored); err != nil {
		return err
	}
	s.replayed = true
	s.showFirst(l)
	return nil
}

// submit applies a submission to the board's current periods.
func (b *Board) submit(a *Attempt) (res leaderboard.Result) {
	broken := leaderboard.AsRule(b.known.Board.Rules.Allow(a.Sub.Edit, a.Caller))
	if broken == nil {
		broken = leaderboard.AsRule(first(b, func(p Judge) error { return p.Before(a) }))
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
		if why := leaderboard.AsRule(first(b, func(p Holder) error { return p.Decided(a, decisions) })); why != nil {
			return b.refuse(a, decisions[0].cur, why)
		}
	}
	return b.carryOutAll(a, decisions)
}

// refuse returns the result of a submission that does not change the member's entry.
func (b *Board) refuse(a *Attempt, cur *leaderboard.Entry, why *leaderboard.RuleError) leaderboard.Result {
	res := leaderboard.Result{Member: a.Sub.Member}
	b.periods[0].show(&res, cur, a.Sub)
	res.Fail(why)
	return res
}
