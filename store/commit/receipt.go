package commit

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"leaderboard/internal/mysql"
	"leaderboard/internal/varint"
	"leaderboard/leaderboard"
)

// receiptFormat is the first byte of idempotency_keys.receipt.
//
// A receipt has the facts that do not follow from the request, which has the same hash. After the format come the seqs, for
// a request for several boards the seqs of each board. Then come the results in the order of the request, in runs of
// similar results: their number (a uvarint), a shape, and for each result the values that the shape includes (varints). So
// an import, in which each entry was applied with the submitted score, a microsecond after the last, takes one run and one
// time.
//
// receiptTerms is the format of requests with entries that are not Plain, or with results whose status receiptFormat lacks.
// A result may also be unmet or aborted, as its rule says; after the results come the tiebreaks and the fields, by name, of
// results whose entries are not Plain. A server without this format does not accept such requests either; all other
// receipts have not changed.
const (
	receiptFormat = 2
	receiptTerms  = 3
)

// shape says in pairs of bits what a result is, and where its score, its previous score and its time are from.
type shape byte

const (
	shapeScore    = 2 // shift
	shapePrevious = 4
	shapeTime     = 6

	fromNowhere = 0
	fromRequest = 1 // the score that was submitted
	fromText    = 2 // it is written
	fromSum     = 3 // of a score: the previous score plus the submitted one
	fromScore   = 1 // of a previous score: the same as the score
	fromLast    = 1 // of a time: a microsecond after the last
)

// shapeStatuses are the statuses by the two lowest bits of a shape.
func shapeStatuses() []leaderboard.Status {
	return []leaderboard.Status{leaderboard.StatusApplied, leaderboard.StatusUnchanged, leaderboard.StatusRejected}
}

// shapeFailed takes the place of a status that the rule of the result determines; see receiptTerms.
const shapeFailed = 3

// hasRule reports whether results of the shape have the rule that they broke.
func (s shape) hasRule() bool {
	return s.from(0) >= slices.Index(shapeStatuses(), leaderboard.StatusRejected)
}

// formatOf returns the format of a receipt.
func formatOf(results []leaderboard.Result, entries []leaderboard.Submission) byte {
	for i := range results {
		if !entries[i].Plain() || !slices.Contains(shapeStatuses(), results[i].Status) {
			return receiptTerms
		}
	}
	return receiptFormat
}

// shapeOf returns the shape of a result whose time follows last.
func shapeOf(r *leaderboard.Result, sub *leaderboard.Submission, last leaderboard.Micros) shape {
	s := shape(shapeFailed)
	if i := slices.Index(shapeStatuses(), r.Status); i >= 0 {
		s = shape(i)
	}
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
		b = binary.AppendVarint(varint.AppendText(b, string(w)), seqs.Seqs[w])
	}
	return b
}

// appendResults appends the results of entries.
func appendResults(b []byte, results []leaderboard.Result, entries []leaderboard.Submission) []byte {
	last := leaderboard.Micros(0)
	for i := 0; i < len(results); {
		run, same := shapeOf(&results[i], &entries[i], last), 0
		var values []byte
		for ; i < len(results) && shapeOf(&results[i], &entries[i], last) == run; i++ {
			r := &results[i]
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
			if run.hasRule() {
				rule, err := json.Marshal(r.Rule)
				if err != nil {
					rule = []byte("null") // it has texts only
				}
				values = varint.AppendText(values, string(rule))
			}
			same++
		}
		b = append(append(binary.AppendUvarint(b, uint64(same)), byte(run)), values...)
	}
	for i := range results {
		if r := &results[i]; !entries[i].Plain() && r.Score != nil {
			b = appendTiebreak(b, r)
		}
	}
	return b
}

// appendTiebreak appends the tiebreak of a result that has an entry.
func appendTiebreak(b []byte, r *leaderboard.Result) []byte {
	tiebreak := int64(0)
	if r.Tiebreak != nil {
		tiebreak = *r.Tiebreak
	}
	b = binary.AppendUvarint(binary.AppendVarint(b, tiebreak), uint64(len(r.Fields)))
	for _, f := range r.Fields {
		b = binary.AppendVarint(varint.AppendText(b, f.Name), f.Value)
	}
	return b
}

// errReceipt is a receipt that is damaged, or of another version of the program.
var errReceipt = errors.New("it cannot be read")

// receiptText is the unread rest of a receipt.
type receiptText struct {
	varint.Reader
	terms bool // it is of format receiptTerms
}

func (t *receiptText) seqs() leaderboard.BoardSeqs {
	out := leaderboard.BoardSeqs{Seq: t.Int()}
	if n := t.Count(len(t.Left)); n > 0 {
		out.Seqs = make(map[leaderboard.Window]int64, n)
		for range n {
			w := leaderboard.Window(t.Text())
			out.Seqs[w] = t.Int()
		}
	}
	return out
}

// results reads the results of all entries of a request, after which nothing is left.
func (t *receiptText) results(entries []leaderboard.Submission) ([]leaderboard.Result, error) {
	out, last := make([]leaderboard.Result, 0, len(entries)), leaderboard.Micros(0)
	for len(out) < len(entries) && !t.Failed {
		same, run := t.Count(len(entries)-len(out)), shape(t.Byte())
		if same == 0 || run.from(0) == shapeFailed && !t.terms {
			t.Fail()
		}
		for ; same > 0 && !t.Failed; same-- {
			r := t.result(run, &entries[len(out)], last)
			if r.CreatedTime != nil {
				last = *r.CreatedTime
			}
			out = append(out, r)
		}
	}
	for i := range out {
		if t.terms && !entries[i].Plain() && out[i].Score != nil {
			t.tiebreak(&out[i])
		}
	}
	if t.Failed || len(t.Left) > 0 {
		return nil, mysql.Wrap("receipt", errReceipt)
	}
	return out, nil
}

// tiebreak reads the tiebreak of a result.
func (t *receiptText) tiebreak(r *leaderboard.Result) {
	tiebreak := t.Int()
	r.Tiebreak = &tiebreak
	for range t.Count(len(t.Left)) {
		r.Fields = append(r.Fields, leaderboard.FieldValue{Name: t.Text(), Value: t.Int()})
	}
}

// result reads one result.
func (t *receiptText) result(run shape, sub *leaderboard.Submission, last leaderboard.Micros) leaderboard.Result {
	r := leaderboard.Result{Member: sub.Member}
	var score, previous int64
	if run.from(shapePrevious) == fromText {
		previous = t.Int()
	}
	switch run.from(shapeScore) {
	case fromRequest:
		score = sub.Score
	case fromText:
		score = t.Int()
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
			at = last + leaderboard.Micros(t.Int())
		}
		r.CreatedTime = &at
	}
	t.status(&r, run)
	return r
}

// status reads the status of a result, and its rule, if any.
func (t *receiptText) status(r *leaderboard.Result, run shape) {
	if run.from(0) != shapeFailed {
		r.Status = shapeStatuses()[run.from(0)]
	}
	if !run.hasRule() {
		return
	}
	failed := run.from(0) == shapeFailed
	switch {
	case json.Unmarshal([]byte(t.Text()), &r.Rule) != nil, failed && r.Rule == nil:
		t.Fail()
	case failed:
		r.Fail(r.Rule)
	}
}

// readReceipt begins to read a receipt.
func readReceipt(b []byte) *receiptText {
	t := &receiptText{Reader: varint.Reader{Left: b}}
	switch t.Byte() {
	case receiptFormat:
	case receiptTerms:
		t.terms = true
	default:
		t.Fail()
	}
	return t
}
