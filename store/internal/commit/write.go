package commit

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"leaderboard"
	"leaderboard/store/internal/audit"
	"leaderboard/store/internal/db"
	"leaderboard/store/internal/entries"
)

// Event is a commit that followers are told about.
type Event struct {
	Ref    leaderboard.PeriodRef
	Commit *leaderboard.Commit
}

// outcome is what a batch writes.
type outcome struct {
	owner int64              // board whose idempotency keys they are
	clock leaderboard.Micros // that keys are stored with
	known map[string]keyRow  // keys that were there
	keys  []keyRow           // keys to add

	audit []audit.Row // of requests that are recorded

	periods    []*period
	changed    []*period // those of periods that have changes
	hidden     bool      // hidden entries were changed
	rolledOver bool
	recorded   []*lockedBoard // boards with records of submissions
}

// written says whether there is anything to commit.
func (o *outcome) written() bool {
	return len(o.changed) > 0 || len(o.recorded) > 0 || len(o.keys) > 0 || o.hidden || o.rolledOver
}

// write sends all that a batch writes in one packet. The last statement is the one whose row count is checked.
func (t *transaction) write(ctx context.Context, o *outcome) ([]Event, error) {
	t.text.Reset()
	events := o.appendTo(t.text)
	if t.text.Len() == 0 {
		return nil, nil
	}
	result, err := t.Conn.ExecContext(ctx, t.text.String())
	if err == nil && len(o.changed) > 0 {
		err = checkAdvance(result, o.changed)
	}
	return events, err
}

// appendTo appends all statements of a batch, of which MaxPacket says how long they are at most.
func (o *outcome) appendTo(t *db.Text) (events []Event) {
	appendKeys(t, o.owner, o.clock, o.keys)
	o.changed = slices.DeleteFunc(slices.Clone(o.periods), func(p *period) bool { return len(p.changes) == 0 })
	appendEntries(t, o.periods)
	o.hidden = appendHiddenTimes(t, o.periods)
	for _, p := range o.changed {
		events = append(events, Event{p.ref, p.commit()})
	}
	for _, p := range o.periods {
		appendCorrections(t, p)
	}
	audit.Append(t, o.audit, o.clock)
	appendSubmissions(t, o.recorded)
	appendLog(t, events)
	if len(events) > 0 {
		appendAdvance(t, o.changed, events)
	}
	return events
}

// The statements of a batch, appended to one text, each with its semicolon.

// appendEntries writes what the batch made of the entries of all its periods: as few statements as there are chunks of
// rows, in the order of the primary key, so that neighbours are written together.
func appendEntries(t *db.Text, periods []*period) {
	var rows []entryRow
	add := func(id int64, p *period, upserts []*leaderboard.Entry, gone []string) {
		for _, e := range upserts {
			rows = append(rows, entryRow{id, p, e})
		}
		for chunk := range slices.Chunk(gone, db.MaxRows) {
			t.Str("DELETE FROM entries WHERE period_id = ").Int(id).Str(" AND member IN (").Hexes(chunk).Str(");")
		}
	}
	for _, p := range periods {
		upserts, gone := p.hidden.outcome()
		add(entries.HiddenIn(p.ref.ID), p, upserts, gone)
	}
	for _, p := range periods {
		upserts, gone := p.outcome()
		add(p.ref.ID, p, upserts, gone)
	}
	for chunk := range slices.Chunk(rows, db.MaxRows) {
		t.Str("INSERT INTO entries (period_id, member, score, tiebreak, created_time) VALUES ")
		for i, r := range chunk {
			entries.AppendRow(t.Comma(i), r.periodID, r.period.codec, *r.entry)
		}
		t.Str(" ON DUPLICATE KEY UPDATE score = VALUES(score), tiebreak = VALUES(tiebreak), created_time = VALUES(created_time);")
	}
}

// entryRow is a row of entries to write.
type entryRow struct {
	periodID int64 // as stored, see entries.HiddenIn
	period   *period
	entry    *leaderboard.Entry
}

// appendHiddenTimes keeps the created_time that was assigned last, of periods in which nothing but hidden entries
// changed: of two entries that are shown together one day, the earlier one has the earlier time.
func appendHiddenTimes(t *db.Text, periods []*period) (touched bool) {
	for _, p := range periods {
		if len(p.hidden.touched) == 0 {
			continue
		}
		touched = true
		if len(p.changes) == 0 {
			t.Str("UPDATE periods SET last_created_time = ").Time(p.lastCreated).Str(" WHERE id = ").Int(p.ref.ID).Str(";")
		}
	}
	return touched
}

// appendLog writes one row of the change log per commit.
func appendLog(t *db.Text, events []Event) {
	for i := range events {
		c := events[i].Commit
		if i == 0 {
			t.Str("INSERT INTO changes (period_id, last_seq, first_seq, prev_committed_at, committed_at, entry_count, payload) VALUES ")
		}
		t.Comma(i).Str("(").Int(c.PeriodID).Str(",").Int(c.LastSeq).Str(",").Int(c.FirstSeq).Str(",").Time(c.PrevCommittedAt).Str(",")
		t.Time(c.CommittedAt).Str(",").Int(c.EntryCount).Str(",").HexBytes(entries.EncodeChanges(nil, events[i].Ref.Rules, c.Changes)).Str(")")
	}
	if len(events) > 0 {
		t.Str(";")
	}
}

// appendKeys stores the receipts of requests that came with a key, also those that changed nothing.
func appendKeys(t *db.Text, owner int64, now leaderboard.Micros, keys []keyRow) {
	for chunk := range slices.Chunk(keys, db.MaxRows) {
		t.Str("INSERT INTO idempotency_keys (board_id, idempotency_key, request_hash, created_at, receipt) VALUES ")
		for i, k := range chunk {
			t.Comma(i).Str("(").Int(owner).Str(",").Hex(k.key).Str(",").HexBytes(k.hash[:]).Str(",").Time(now)
			t.Str(",").HexBytes(k.receipt).Str(")")
		}
		t.Str(";")
	}
}

// appendCorrections records corrections of a closed period among the runs.
func appendCorrections(t *db.Text, p *period) {
	for _, c := range p.corrections {
		t.Str("INSERT INTO runs (board_id, period_id, kind, reason, actor, state, from_seq, to_seq, row_count, started_at) VALUES (")
		t.Int(p.ref.BoardID).Str(",").Int(p.ref.ID).Str(",'reopen','admin',").HexText(db.CutText(c.actor, db.MaxActor)).Str(",'done',")
		t.Int(c.from).Str(",").Int(c.to).Str(",1,").Time(p.clock).Str(");")
	}
}

// appendAdvance moves the periods to their new states, all in one statement. Each event is from the state that its
// period was found in to the new one.
func appendAdvance(t *db.Text, changed []*period, events []Event) {
	byID := func(column string, value func(i int)) {
		t.Str(column).Str(" = CASE id")
		for i, p := range changed {
			t.Str(" WHEN ").Int(p.ref.ID).Str(" THEN ")
			value(i)
		}
		t.Str(" END")
	}
	t.Str("UPDATE periods SET ")
	byID("last_created_time", func(i int) { t.Time(changed[i].lastCreated) })
	byID(", committed_at", func(i int) { t.Time(events[i].Commit.CommittedAt) })
	byID(", entry_count", func(i int) { t.Int(changed[i].count) })
	byID(", last_seq", func(i int) { t.Int(changed[i].lastSeq) })
	t.Str(" WHERE id IN (")
	for i, p := range changed {
		t.Comma(i).Int(p.ref.ID)
	}
	byID(") AND last_seq", func(i int) { t.Int(events[i].Commit.From().Seq) })
	t.Str(";")
}

// checkAdvance checks that the periods were where the lock had found them, which nothing but a fault can change. The
// driver tells the count of the last statement of a packet.
func checkAdvance(result sql.Result, changed []*period) error {
	n, err := result.RowsAffected()
	if err == nil && n != int64(len(changed)) {
		err = fmt.Errorf("of %d periods that are locked %d were where they had been: %w", len(changed), n, leaderboard.ErrUnavailable)
	}
	return err
}

// requestHash returns SHA-256 over a canonical encoding of a request: equal for equal decoded requests, however they
// were written, and different for all others.
func requestHash(entries []leaderboard.Submission) [sha256.Size]byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, 64*len(entries)+8), uint64(len(entries)))
	for _, e := range entries {
		b = binary.BigEndian.AppendUint64(b, uint64(len(e.Member)))
		b = append(b, e.Member...)
		b = binary.BigEndian.AppendUint64(b, uint64(e.Score))
		b = appendOptional(b, e.Tiebreak)
		b = appendOptional(b, (*int64)(e.CreatedTime))
	}
	// Fields come last, so that a request without any has the hash that it always had.
	for i, e := range entries {
		if e.Fields == nil {
			continue
		}
		b = binary.BigEndian.AppendUint64(b, uint64(i))
		b = binary.BigEndian.AppendUint64(b, uint64(len(e.Fields)))
		for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
			b = binary.BigEndian.AppendUint64(b, uint64(len(name)))
			b = append(b, name...)
			b = binary.BigEndian.AppendUint64(b, uint64(e.Fields[name]))
		}
	}
	return sha256.Sum256(b)
}

// multiBoardHash is requestHash of a request for several boards.
func multiBoardHash(entries []leaderboard.BoardSubmission) [sha256.Size]byte {
	subs := make([]leaderboard.Submission, len(entries))
	for i := range entries {
		subs[i] = entries[i].Submission
	}
	hash := requestHash(subs)
	b := hash[:]
	for i := range entries {
		b = append(binary.BigEndian.AppendUint64(b, uint64(len(entries[i].Board))), entries[i].Board...)
	}
	return sha256.Sum256(b)
}

// appendOptional appends a flag and, when v is given, its value.
func appendOptional(b []byte, v *int64) []byte {
	if v == nil {
		return append(b, 0)
	}
	return binary.BigEndian.AppendUint64(append(b, 1), uint64(*v))
}

// receiptFormat is the first byte of idempotency_keys.receipt.
//
// A receipt has what the request, which has the same hash, does not say. After the format come the seqs, and of a request
// for several boards those of each. Then come the results in the order of the request, in runs of those that are alike: how
// many (a uvarint), a shape, and of each the values that the shape says are written (varints). So of an import, in which
// each entry was applied with the score that was submitted, a microsecond after the one before, there is one run, and one
// time.
const receiptFormat = 2

// shape says in pairs of bits what a result is, and where its score, its previous score and its time are from.
type shape byte

const (
	shapeScore    = 2 // shift
	shapePrevious = 4
	shapeTime     = 6

	fromNowhere = 0
	fromRequest = 1 // the score that was submitted
	fromText    = 2 // it is written
	fromSum     = 3 // of a score: the previous one and what was submitted
	fromScore   = 1 // of a previous score: the same as the score
	fromLast    = 1 // of a time: a microsecond after the one before
)

// shapeStatuses are the statuses by the two lowest bits.
func shapeStatuses() []leaderboard.Status {
	return []leaderboard.Status{leaderboard.StatusApplied, leaderboard.StatusUnchanged, leaderboard.StatusRejected}
}

// shapeOf returns the shape of a result whose time follows last.
func shapeOf(r *leaderboard.Result, sub *leaderboard.Submission, last leaderboard.Micros) shape {
	s := shape(slices.Index(shapeStatuses(), r.Status))
	if r.Previous != nil {
		from := shape(fromText)
		if r.Score != nil && *r.Score == *r.Previous {
			from = fromScore
		}
		s |= from << shapePrevious
	}
	if r.Score != nil {
		from := shape(fromText)
		if *r.Score == sub.Score {
			from = fromRequest
		} else if r.Previous != nil && *r.Score != *r.Previous && *r.Score == *r.Previous+sub.Score {
			from = fromSum
		}
		s |= from << shapeScore
	}
	if r.CreatedTime != nil {
		from := shape(fromText)
		if *r.CreatedTime == last+1 {
			from = fromLast
		}
		s |= from << shapeTime
	}
	return s
}

func (s shape) from(shift int) int { return int(s>>shift) & 3 }

// appendSeqs appends the seqs of one board.
func appendSeqs(b []byte, seqs leaderboard.BoardSeqs) []byte {
	b = binary.AppendUvarint(binary.AppendVarint(b, seqs.Seq), uint64(len(seqs.Seqs)))
	for _, w := range slices.Sorted(maps.Keys(seqs.Seqs)) {
		b = binary.AppendVarint(appendText(b, string(w)), seqs.Seqs[w])
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// appendResults appends the results of n entries, which result and submitted return.
func appendResults(b []byte, n int, result func(int) *leaderboard.Result, submitted func(int) *leaderboard.Submission) []byte {
	last := leaderboard.Micros(0)
	for i := 0; i < n; {
		run, same := shapeOf(result(i), submitted(i), last), 0
		var values []byte
		for ; i < n && shapeOf(result(i), submitted(i), last) == run; i++ {
			r := result(i)
			if run.from(shapePrevious) == fromText {
				values = binary.AppendVarint(values, *r.Previous)
			}
			if run.from(shapeScore) == fromText {
				values = binary.AppendVarint(values, *r.Score)
			}
			if run.from(shapeTime) == fromText {
				values = binary.AppendVarint(values, int64(*r.CreatedTime-last))
			}
			if r.CreatedTime != nil {
				last = *r.CreatedTime
			}
			if r.Status == leaderboard.StatusRejected {
				rule, err := json.Marshal(r.Rule)
				if err != nil {
					rule = []byte("null") // it has texts only
				}
				values = appendText(values, string(rule))
			}
			same++
		}
		b = append(append(binary.AppendUvarint(b, uint64(same)), byte(run)), values...)
	}
	return b
}

// encodeReceipt encodes the receipt of a request for one board.
func encodeReceipt(r *leaderboard.Receipt, entries []leaderboard.Submission) []byte {
	b := appendSeqs([]byte{receiptFormat}, leaderboard.BoardSeqs{Seq: r.Seq, Seqs: r.Seqs})
	return appendResults(b, len(r.Results), func(i int) *leaderboard.Result { return &r.Results[i] },
		func(i int) *leaderboard.Submission { return &entries[i] })
}

// encodeMultiBoardReceipt encodes the receipt of a request for several boards.
func encodeMultiBoardReceipt(r *leaderboard.MultiBoardReceipt, entries []leaderboard.BoardSubmission) []byte {
	b := binary.AppendUvarint([]byte{receiptFormat}, uint64(len(r.Boards)))
	for _, name := range slices.Sorted(maps.Keys(r.Boards)) {
		b = appendSeqs(appendText(b, name), r.Boards[name])
	}
	return appendResults(b, len(r.Results), func(i int) *leaderboard.Result { return &r.Results[i].Result },
		func(i int) *leaderboard.Submission { return &entries[i].Submission })
}

// errReceipt is a receipt that is damaged, or of another version of the program.
var errReceipt = errors.New("it cannot be read")

// receiptText is what is left to read of a receipt.
type receiptText struct {
	b      []byte
	failed bool
}

func (t *receiptText) fail() { t.b, t.failed = nil, true }

func (t *receiptText) varint() int64 {
	v, n := binary.Varint(t.b)
	if n <= 0 {
		t.fail()
		return 0
	}
	t.b = t.b[n:]
	return v
}

// count reads a number of things of which each has a byte at least, or of entries of the request.
func (t *receiptText) count(most int) int {
	v, n := binary.Uvarint(t.b)
	if n <= 0 || v > uint64(most) {
		t.fail()
		return 0
	}
	t.b = t.b[n:]
	return int(v)
}

func (t *receiptText) text() string {
	n := t.count(len(t.b))
	if n > len(t.b) {
		t.fail()
		return ""
	}
	s := string(t.b[:n])
	t.b = t.b[n:]
	return s
}

func (t *receiptText) byte() byte {
	if len(t.b) == 0 {
		t.fail()
		return 0
	}
	c := t.b[0]
	t.b = t.b[1:]
	return c
}

func (t *receiptText) seqs() leaderboard.BoardSeqs {
	out := leaderboard.BoardSeqs{Seq: t.varint()}
	if n := t.count(len(t.b)); n > 0 {
		out.Seqs = make(map[leaderboard.Window]int64, n)
		for range n {
			w := leaderboard.Window(t.text())
			out.Seqs[w] = t.varint()
		}
	}
	return out
}

// results reads the results of all n entries of a request.
func (t *receiptText) results(n int, submitted func(int) *leaderboard.Submission, add func(int, leaderboard.Result)) error {
	last := leaderboard.Micros(0)
	for i := 0; i < n && !t.failed; {
		same, run := t.count(n-i), shape(t.byte())
		if same == 0 || run.from(0) >= len(shapeStatuses()) {
			t.fail()
		}
		for ; same > 0 && !t.failed; same-- {
			r := t.result(run, submitted(i), last)
			if r.CreatedTime != nil {
				last = *r.CreatedTime
			}
			add(i, r)
			i++
		}
	}
	if t.failed || len(t.b) > 0 {
		return db.Wrap("receipt", errReceipt)
	}
	return nil
}

// result reads one result.
func (t *receiptText) result(run shape, sub *leaderboard.Submission, last leaderboard.Micros) leaderboard.Result {
	r := leaderboard.Result{Member: sub.Member, Status: shapeStatuses()[run.from(0)]}
	var score, previous int64
	if run.from(shapePrevious) == fromText {
		previous = t.varint()
	}
	switch run.from(shapeScore) {
	case fromRequest:
		score = sub.Score
	case fromText:
		score = t.varint()
	case fromSum:
		score = previous + sub.Score
	}
	if run.from(shapePrevious) == fromScore {
		previous = score
	}
	if run.from(shapeScore) != fromNowhere {
		r.Score = &score
	}
	if run.from(shapePrevious) != fromNowhere {
		r.Previous = &previous
	}
	if from := run.from(shapeTime); from != fromNowhere {
		at := last + 1
		if from == fromText {
			at = last + leaderboard.Micros(t.varint())
		}
		r.CreatedTime = &at
	}
	if r.Status == leaderboard.StatusRejected && json.Unmarshal([]byte(t.text()), &r.Rule) != nil {
		t.fail()
	}
	return r
}

// decodeReceipt decodes the receipt of a request for one board.
func decodeReceipt(b []byte, entries []leaderboard.Submission) (leaderboard.Receipt, error) {
	t := &receiptText{b: b}
	if t.byte() != receiptFormat {
		t.fail()
	}
	seqs := t.seqs()
	out := leaderboard.Receipt{Seq: seqs.Seq, Seqs: seqs.Seqs, Results: make([]leaderboard.Result, len(entries))}
	err := t.results(len(entries), func(i int) *leaderboard.Submission { return &entries[i] },
		func(i int, r leaderboard.Result) { out.Results[i] = r })
	return out, err
}

// decodeMultiBoardReceipt decodes the receipt of a request for several boards.
func decodeMultiBoardReceipt(b []byte, entries []leaderboard.BoardSubmission) (leaderboard.MultiBoardReceipt, error) {
	t := &receiptText{b: b}
	if t.byte() != receiptFormat {
		t.fail()
	}
	out := leaderboard.MultiBoardReceipt{Results: make([]leaderboard.BoardResult, len(entries)), Boards: map[string]leaderboard.BoardSeqs{}}
	for range t.count(len(t.b)) {
		name := t.text()
		out.Boards[name] = t.seqs()
	}
	err := t.results(len(entries), func(i int) *leaderboard.Submission { return &entries[i].Submission },
		func(i int, r leaderboard.Result) {
			out.Results[i] = leaderboard.BoardResult{Board: entries[i].Board, Result: r}
		})
	return out, err
}
