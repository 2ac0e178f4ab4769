package records

import (
	"slices"

	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store/commit"
)

// A record is a row with few columns: half of MySQL's cost of a row is reading the statement that inserts it, literal by
// literal.

// Part adds records to the transaction of submissions.
type Part struct{}

// On returns the records of a board in one batch.
func (Part) On(b *commit.Board, _ *commit.Needs) commit.BoardPart { return &records{board: b} }

// Same is always true: nothing is read.
func (Part) Same(_, _ *leaderboard.Rules) bool { return true }

// Rule returns the rule that the part carries out.
func (Part) Rule() string { return "/record" }

// records are the records of a board that a batch makes.
type records struct {
	board board
	list  []SubmissionRecord
}

// board is a commit.Board.
type board interface {
	ID() int64
	Rules() *leaderboard.Rules
	Clock() leaderboard.Micros
	Current() []*commit.Period
	Random() uint64
}

// Done records the result of a submission, if the board wants that.
func (r *records) Done(a *commit.Attempt, res *leaderboard.Result) {
	sub, rules, first := a.Sub, r.board.Rules(), r.board.Current()[0]
	if !rules.Record.Keeps(res.Status) || leaderboard.CheckMember(sub.Member) != nil { // an invalid id has no past
		return
	}
	rec := SubmissionRecord{
		Member: sub.Member, Status: res.Status, Score: sub.Score, Previous: res.Previous, NewScore: res.Score, Seq: first.Seq(),
		Edit: rules.Known(sub.Edit), Actor: a.Caller.Key, RequestID: a.Caller.RequestID,
	}
	rec.Hidden = res.Status == leaderboard.StatusApplied && first.IsAside(sub.Member)
	if sub.Tiebreak != nil || sub.Fields != nil {
		if packed, err := rules.Tiebreak.Resolve(sub.Tiebreak, sub.Fields, nil); err == nil {
			rec.Tiebreak = &packed
		}
	}
	if res.Rule != nil {
		rec.Code, rec.Detail = res.Rule.Code, res.Rule.Detail
	}
	r.list = append(r.list, rec)
}

// Mark returns a function that drops the records made from now on.
func (r *records) Mark([]string) (undo func()) {
	n := len(r.list)
	return func() { r.list = r.list[:n] }
}

// Changed reports whether there are records.
func (r *records) Changed() bool { return len(r.list) > 0 }

// row is a row of submissions to write.
type row struct {
	board board
	id    int64
	rec   *SubmissionRecord
}

// Write inserts the records of a batch, as a rule in one statement. Ids distinguish records of one microsecond, whichever batches
// they are from and however the clock goes.
func (Part) Write(t *mysql.Text, changed []commit.BoardPart) {
	var list []row
	for _, r := range commit.PartsOf[*records](changed) {
		first := int64(r.board.Random()>>18) << 16
		list = slices.Grow(list, len(r.list))
		for i := range r.list {
			list = append(list, row{r.board, first + int64(i), &r.list[i]})
		}
	}
	var room []byte
	for chunk := range slices.Chunk(list, mysql.MaxRows) {
		t.Str("INSERT INTO submissions (board_id, recorded_at, id, member, actor, request_id, result) VALUES ")
		for i := range chunk {
			r := &chunk[i]
			t.Comma(i).Str("(").Int(r.board.ID()).Str(",").Time(r.board.Clock()).Str(",").Int(r.id).Str(",").Hex(r.rec.Member)
			t.Str(",").Hex(mysql.CutBytes(r.rec.Actor, mysql.MaxActor)).Str(",")
			appendRequestID(t, mysql.CutBytes(r.rec.RequestID, mysql.MaxRequestID))
			room = appendRecord(room[:0], r.rec)
			t.Str(",").HexBytes(room).Str(")")
		}
		t.Str(";")
	}
}
