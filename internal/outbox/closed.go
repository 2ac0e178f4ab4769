package outbox

import (
	"context"
	"encoding/json"
	"fmt"

	"leaderboard/internal/entries"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/rank"
)

// closedData is the data of a period that is over.
type closedData struct {
	Board    string             `json:"board"`
	Window   leaderboard.Window `json:"window"`
	Period   string             `json:"period"`
	StartsAt leaderboard.Micros `json:"starts_at"`
	EndsAt   leaderboard.Micros `json:"ends_at"`
	Seq      int64              `json:"seq"`
	Total    int64              `json:"total"`
	Mode     leaderboard.Mode   `json:"mode"` // of the ranks
}

// topDetail is the event's data about one of the best entries.
type topDetail struct {
	Rank        int64              `json:"rank"`
	Score       int64              `json:"score"`
	Tiebreak    int64              `json:"tiebreak"`
	Fields      map[string]int64   `json:"fields,omitempty"`
	CreatedTime leaderboard.Micros `json:"created_time"`
}

// onceClosed names the end of a period. The incarnation distinguishes the period after a restore.
func onceClosed(p *leaderboard.Period) string {
	return fmt.Sprint("period.closed ", p.ID, " ", p.Incarnation)
}

// Closed is the event of the end of a board's period. The transaction has locked the board and closes the period, so its
// entries are final.
func Closed(b *leaderboard.Board, p leaderboard.Period) Event {
	return Event{
		Kind: leaderboard.EventKindPeriodClosed, Board: b.Name, Once: onceClosed(&p),
		Data: func(ctx context.Context, tx Tx) (any, []leaderboard.EventMember, error) {
			members, err := topOf(ctx, tx, b, p.ID)
			return closedData{b.Name, p.Window, p.Name(), p.StartsAt, p.EndsAt, p.LastSeq, p.EntryCount, b.Rules.Mode}, members, err
		},
	}
}

// Reopened takes back that a period is over.
func Reopened(ctx context.Context, tx Tx, p leaderboard.Period) error {
	return Withdraw(ctx, tx, onceClosed(&p))
}

// topOf reads the best entries of a period.
func topOf(ctx context.Context, tx Tx, b *leaderboard.Board, periodID int64) ([]leaderboard.EventMember, error) {
	scan := entries.Scan{Range: entries.Everything(), Limit: leaderboard.MaxClosedTop}
	t := (&mysql.Text{}).Str("SELECT member, score, tiebreak, created_time")
	scan.From(t, periodID)
	rows, err := tx.QueryContext(ctx, t.String())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	codec := rank.CodecOf(&b.Rules)
	var (
		found []leaderboard.Entry
		keys  []rank.Key
	)
	err = entries.EachRow(rows, codec, func(e leaderboard.Entry) { found, keys = append(found, e), append(keys, codec.Key(e)) })
	if err != nil {
		return nil, err
	}
	members := make([]leaderboard.EventMember, len(found))
	for i, r := range rank.Number(rank.Top(), keys) {
		detail, err := json.Marshal(topDetail{r.In(b.Rules.Mode), found[i].Score, found[i].Tiebreak, fieldsOf(&b.Rules.Tiebreak, found[i].Tiebreak), found[i].CreatedTime})
		if err != nil {
			return nil, err
		}
		members[i] = leaderboard.EventMember{Member: found[i].Member, Detail: string(detail)}
	}
	return members, rows.Close()
}

func fieldsOf(t *leaderboard.Tiebreak, packed int64) map[string]int64 {
	if len(t.Fields) == 0 {
		return nil
	}
	fields := make(map[string]int64, len(t.Fields))
	for _, f := range t.Unpack(packed) {
		fields[f.Name] = f.Value
	}
	return fields
}
