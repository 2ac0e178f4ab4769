package httpapi

import (
	"errors"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// rulesBody is the body of PUT and PATCH /v1/boards/{board}: rules, and the other members that GET shows of a board, so that an
// answer of GET can be sent back. The others cannot be set: PUT ignores the times, and the rest must have the present values.
type rulesBody struct {
	leaderboard.Rules                // inlined
	Name              jsontext.Value `json:"name"`
	CreatedTime       jsontext.Value `json:"created_time"`
	UpdatedTime       jsontext.Value `json:"updated_time"`
	Stale             jsontext.Value `json:"stale"`
}

// readOnly refuses a value of a member that cannot be set, other than its present one.
func readOnly(pointer string, said jsontext.Value, is string) error {
	var text string
	if said == nil || said.Kind() == '"' && json.Unmarshal(said, &text) == nil && text == is {
		return nil
	}
	return wire.Reject(leaderboard.CodeInvalidBoard, "", wire.InputError{Pointer: pointer, Detail: "is " + is + " and cannot be changed"})
}

// strictly returns the options of decoding rules, in addition to the options of every body.
func strictly() json.Options {
	return json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(defaultField), json.UnmarshalFromFunc(defaultNotify)))
}

// mayDerive refuses rules that name a source outside the boards of a limited key.
func mayDerive(c *Call, rules *leaderboard.Rules) error {
	if rules.Derive == nil {
		return nil
	}
	for i := range rules.Derive.From {
		at := wire.InputError{Pointer: "/derive/from/" + strconv.Itoa(i) + "/board", Detail: guard.NotCovered}
		if err := c.mayName(rules.Derive.From[i].Board, at); err != nil {
			return err
		}
	}
	return nil
}

// patched returns rules with a merge patch applied to their form in JSON: a member that is null in the patch gets its default.
func patched(rules *leaderboard.Rules, patch jsontext.Value) (leaderboard.Rules, error) {
	was, err := json.Marshal(rules)
	if err != nil {
		return leaderboard.Rules{}, err
	}
	merged, err := wire.MergePatch(was, patch)
	if err != nil {
		return leaderboard.Rules{}, err
	}
	out := rulesBody{Rules: leaderboard.Rules{}.WithDefaults()}
	if err := wire.Unmarshal(merged, &out, strictly()); err != nil {
		return leaderboard.Rules{}, err
	}
	return out.Rules, boardEmptiness().Check(merged)
}

// boardTag returns the strong ETag of a board's rules. A board that was deleted and made again has another tag.
func boardTag(b *leaderboard.Board) string { return boardHash(b).Tag(b.Version) }

func boardHash(b *leaderboard.Board) wire.ETag {
	return wire.EmptyETag.Int(wire.AnswerFormat).Text("board").Int(b.ID).Int(b.Version).Int(int64(b.UpdatedTime))
}

// mayChange checks a change of a board (nil: it does not exist yet) against If-Match and If-None-Match. It is called with the
// board locked: of two requests that name the same state, one is refused.
func mayChange(c *Call, b *leaderboard.Board) error {
	match, none := c.R.Header["If-Match"], c.R.Header["If-None-Match"]
	if b == nil {
		if match != nil {
			return wire.Reject(wire.CodePrecondition, "No board has this name, and If-Match wants one.")
		}
		return nil
	}
	etag := boardTag(b)
	if match != nil && !wire.StrongMatch(match, etag) {
		return wire.Reject(wire.CodePrecondition, "The board is not as If-Match says: its ETag is "+etag+" now.")
	}
	if _, is := wire.NoneMatch(none, etag); is {
		return wire.Reject(wire.CodePrecondition, "The board is there, with the ETag "+etag+".")
	}
	return nil
}

func boardEmptiness() *wire.Emptiness {
	return &wire.Emptiness{
		Nullable: []string{"starts_at", "ends_at", "min_score", "max_score", "max_delta", "per_second", "derive", "weight"},
		NonEmpty: []string{"time_zone", "board", "window", "period", "last", "op", "aggregate", "record"},
	}
}

// defaultField gives a tiebreak field of a body its defaults and otherwise decodes as usual.
func defaultField(_ *jsontext.Decoder, f *leaderboard.TiebreakField) error {
	f.Order = leaderboard.OrderDesc
	return errors.ErrUnsupported
}

// defaultNotify gives the rule notify of a body its defaults and otherwise decodes as usual.
func defaultNotify(_ *jsontext.Decoder, n *leaderboard.Notify) error {
	n.Within = leaderboard.DefaultNotifyWithin
	return errors.ErrUnsupported
}
