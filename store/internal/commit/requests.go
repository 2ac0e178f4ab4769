package commit

import (
	"crypto/sha256"
	"slices"
	"sync/atomic"
	"time"

	"leaderboard"
	"leaderboard/internal/trace"
	"leaderboard/store/internal/audit"
)

// request is one piece of work in a queue. A batch is repeated after a deadlock, so apply starts from nothing each
// time.
type request interface {
	head() *header
	// collect adds what the request needs to know of each of its boards.
	collect(of func(board string) *needs)
	// apply carries the request out on the boards that were locked, in memory. Its error concerns only this request, which
	// then has changed nothing.
	apply(l *locked) error
}

// keyedRequest is a request that may have an idempotency key. The receipt is kept with the key.
type keyedRequest interface {
	request
	stored() []byte
	replay([]byte) error // the request was carried out before, and this was its receipt
}

// locked are the boards that a batch has locked.
type locked struct {
	boards  map[string]*lockedBoard // by name; those that do not exist are not here
	derived map[string]bool         // boards that are not locked, because they are derived and take no submissions
	audit   []audit.Row             // what requests have done that the audit records
}

// header is what queues know of a request.
type header struct {
	queue  queueID
	boards []string // the names that it names, each once
	load   load
	urgent bool   // it is not refused when too much waits
	key    string // idempotency key, "" for none
	hash   [sha256.Size]byte
	done   chan error // has room for the answer: the writer never waits for a caller
	state  atomic.Int32
	caller leaderboard.Caller // as records of what it does say
	since  time.Time          // when it entered its queue

	span   trace.Span // of what asked for it
	queued trace.Span // while it waits for a batch
}

// The states of a request. Whoever makes it leave stateWaiting or stateSent decides what becomes of it.
const (
	stateWaiting   = iota
	stateWithdrawn // nothing of it is done
	stateSent      // a batch has it, which waits for the database
	stateApplied   // the batch has the locks and is about to write and commit it
)

// send says whether the request is still there to be sent with a batch.
func (h *header) send() bool { return h.state.CompareAndSwap(stateWaiting, stateSent) }

// claim says whether the request is still there to be carried out, once the batch has its locks.
func (h *header) claim() bool { return h.state.CompareAndSwap(stateSent, stateApplied) }

// recall says that the batch was rolled back: whoever waits may leave until it is sent again.
func (h *header) recall() {
	_ = h.state.CompareAndSwap(stateSent, stateWaiting) || h.state.CompareAndSwap(stateApplied, stateWaiting)
}

// unsend takes the request out of a batch that has nothing of it written yet, and says whether it could.
func (h *header) unsend() bool { return h.state.CompareAndSwap(stateSent, stateWithdrawn) }

// drop answers a request that was not sent.
func (h *header) drop(err error) {
	if h.state.CompareAndSwap(stateWaiting, stateWithdrawn) {
		h.done <- err
	}
}

// queueID says which requests share batches: those for one board, or those for several.
type queueID struct {
	board   string
	several bool
}

func headerOf(id queueID, boards []string, rows int, bytes int64) header {
	l := load{requests: 1, rows: max(1, rows), cost: max(1, rows), bytes: requestBytes + bytes}
	return header{queue: id, boards: boards, load: l, done: make(chan error, 1)}
}

// What a request and an entry take of memory while they wait, beside the text in them.
const (
	requestBytes = 1024
	entryBytes   = 128
)

// sizeOf returns how much memory an entry takes, roughly.
func sizeOf(s *leaderboard.Submission) int64 {
	return int64(entryBytes + len(s.Member) + len(s.Fields)*entryBytes/2)
}

func (h *header) head() *header { return h }

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
	b := l.boards[s.queue.board]
	if b == nil {
		return leaderboard.ErrBoardNotFound
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

// removal removes the entry of a member.
type removal struct {
	header
	leaderboard.RemoveRequest
	audited bool                // it is recorded with the caller
	receipt leaderboard.Receipt // after apply
	removed []removedEntry      // after apply
}

// removedEntry is an entry that was removed, as the audit has it.
type removedEntry struct {
	Window   leaderboard.Window `json:"window"`
	Period   string             `json:"period"`
	Closed   bool               `json:"closed,omitempty"` // it was a correction
	Hidden   bool               `json:"hidden,omitempty"`
	Score    int64              `json:"score"`
	Tiebreak int64              `json:"tiebreak"`
	Created  leaderboard.Micros `json:"created_time"`
}

// remove takes the member's entry out of a period.
func (r *removal) remove(p *period) (res leaderboard.Result, ok bool) {
	hidden, visible := p.hidden.entries[r.Member], p.entries[r.Member]
	for _, e := range []*leaderboard.Entry{hidden, visible} {
		if e != nil {
			r.removed = append(r.removed, removedEntry{p.ref.Window, p.ref.Name, p.closed, e == hidden, e.Score, e.Tiebreak, e.CreatedTime})
		}
	}
	return p.remove(r.Member)
}

// record adds what was removed to the rows of the audit that the batch writes.
func (r *removal) record(l *locked) error {
	if !r.audited {
		return nil
	}
	row, err := audit.RowOf(r.caller, audit.Change{
		Action: leaderboard.AuditActionEntryRemove, Board: r.Board, Member: r.Member, Before: struct {
			Entries []removedEntry `json:"entries"`
		}{r.removed},
	})
	if err == nil {
		l.audit = append(l.audit, row)
	}
	return err
}

func newRemoval(r leaderboard.RemoveRequest) *removal {
	return &removal{header: headerOf(queueID{board: r.Board}, []string{r.Board}, 1, 0), RemoveRequest: r}
}

func (r *removal) collect(of func(board string) *needs) {
	n := of(r.Board)
	n.members, n.removed = append(n.members, r.Member), append(n.removed, r.Member)
	if r.PeriodID != 0 {
		n.past = append(n.past, pastEntries{r.Member, []int64{r.PeriodID}})
	}
}

func (r *removal) apply(l *locked) error {
	b := l.boards[r.Board]
	if b == nil {
		return leaderboard.ErrBoardNotFound
	}
	r.receipt, r.removed = leaderboard.Receipt{}, nil
	if i := slices.IndexFunc(b.past, func(p *period) bool { return p.ref.ID == r.PeriodID }); i >= 0 {
		if err := r.applyToPast(b.past[i]); err != nil {
			return err
		}
		return r.record(l)
	}
	known := r.PeriodID == 0
	for _, p := range b.periods {
		if r.PeriodID != 0 && r.PeriodID != p.ref.ID {
			continue
		}
		known = true
		if res, ok := r.remove(p); ok && len(r.receipt.Results) == 0 {
			r.receipt.Results = append(r.receipt.Results, res)
		}
	}
	switch {
	case !known:
		return leaderboard.ErrPeriodNotFound
	case len(r.receipt.Results) == 0:
		return leaderboard.ErrNotRanked
	}
	r.receipt.Seq, r.receipt.Seqs = seqsOf(b.periods)
	return r.record(l)
}

// applyToPast removes the entry from a period that is not current.
func (r *removal) applyToPast(p *period) error {
	if p.closed && !r.Reopen {
		return leaderboard.ErrPeriodClosed
	}
	before := p.lastSeq
	res, ok := r.remove(p)
	if !ok {
		return leaderboard.ErrNotRanked
	}
	p.corrected(r.Actor, before)
	r.receipt.Results = append(r.receipt.Results, res)
	r.receipt.Seq = p.lastSeq // 0 when nobody was ever seen there
	return nil
}

// Move moves the entries of a member who was hidden or restored to where they belong: in the current periods, and in
// those that it names.
type Move struct {
	Board     string
	Member    string
	PeriodIDs []int64
	Reopen    bool // also in closed periods, which is recorded with the actor
	Actor     string
}

type move struct {
	header
	Move
}

// pastCost is how many entries to submit a named period counts for in a batch: it is locked, and may get a commit of
// its own.
const pastCost = 10

// newMove returns a move. It does not add to what is refused when too much waits: moves come one at a time.
func newMove(m Move) *move {
	r := &move{header: headerOf(queueID{board: m.Board}, []string{m.Board}, 1, 0), Move: m}
	r.load.cost, r.urgent = max(1, pastCost*len(m.PeriodIDs)), true
	return r
}

func (m *move) collect(of func(board string) *needs) {
	n := of(m.Board)
	n.members = append(n.members, m.Member)
	n.past = append(n.past, pastEntries{m.Member, m.PeriodIDs})
}

// apply moves the entries in the periods named; those in the current ones were moved by the lock. A closed period stays
// as it is unless it is reopened.
func (m *move) apply(l *locked) error {
	b := l.boards[m.Board]
	if b == nil {
		return leaderboard.ErrBoardNotFound
	}
	for _, p := range b.past {
		if p.closed && !m.Reopen || !slices.Contains(m.PeriodIDs, p.ref.ID) {
			continue
		}
		before := p.lastSeq
		if p.move(m.Member); p.lastSeq > before {
			p.corrected(m.Actor, before)
		}
	}
	return nil
}

// submit applies a submission to the board's current periods, and records it if the board wants that.
func (b *lockedBoard) submit(sub leaderboard.Submission, caller *leaderboard.Caller) leaderboard.Result {
	res := submitAll(b.periods, sub)
	rules := &b.known.Board.Rules
	if !rules.Record.Keeps(res.Status) || leaderboard.CheckMember(sub.Member) != nil { // nobody has a past under what is no id
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

// recorded returns those of the boards that have records of submissions.
func (l *locked) recorded(names []string) (out []*lockedBoard) {
	for _, name := range names {
		if b := l.boards[name]; b != nil && len(b.records) > 0 {
			out = append(out, b)
		}
	}
	return out
}
