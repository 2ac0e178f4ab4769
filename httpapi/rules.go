package httpapi

import (
	"cmp"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// rulesBody is the body of PUT and PATCH /v1/boards/{board}: rules, and what else GET shows of a board, so that an answer of GET can
// be sent back. None of that can be set: PUT ignores the times, and other values must be the present ones.
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

// strictly are the options that rules are decoded with besides those of every body.
func strictly() json.Options {
	return json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(defaultField), json.UnmarshalFromFunc(defaultNotify)))
}

// patch answers PATCH /v1/boards/{board}, a merge patch (RFC 7396) of its rules.
func (h *boardHandlers) patch(c *call) error {
	name, err := c.boardName()
	if err != nil {
		return err
	}
	var patch jsontext.Value
	if err := c.decode(&patch, false, nil); err != nil {
		return err
	}
	var known rulesBody // a name that no rule has is refused, with null too
	if err := wire.Unmarshal(patch, &known); err != nil {
		return err
	}
	if err := readOnly("/name", known.Name, name); err != nil {
		return err
	}
	if err := c.mayDerive(&known.Rules); err != nil {
		return err
	}
	b, _, err := h.boards.ChangeBoard(c.ctx, name, func(b *leaderboard.Board) (leaderboard.Rules, error) {
		if b == nil {
			return leaderboard.Rules{}, leaderboard.ErrBoardNotFound
		}
		if err := c.mayChange(b); err != nil {
			return leaderboard.Rules{}, err
		}
		if err := cmp.Or(readOnly("/created_time", known.CreatedTime, b.CreatedTime.String()), readOnly("/updated_time", known.UpdatedTime, b.UpdatedTime.String())); err != nil {
			return leaderboard.Rules{}, err
		}
		rules, err := patched(&b.Rules, patch)
		if err != nil {
			return leaderboard.Rules{}, err
		}
		if err := c.mayDerive(&rules); err != nil { // of the sources that it has already
			return leaderboard.Rules{}, err
		}
		return rules, h.checkRules(rules)
	})
	if err != nil {
		return err
	}
	return h.sendBoard(c, http.StatusOK, &b)
}

// mayDerive lets a key that is for some boards make no other board a source of one of them.
func (c *call) mayDerive(rules *leaderboard.Rules) error {
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

// patched returns rules with a merge patch applied to their form in JSON: what is null there has its default.
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

// boardTag returns the strong ETag of a board's rules: of one that was deleted and made again it is another.
func boardTag(b *leaderboard.Board) string { return boardHash(b).Tag(b.Version) }

func boardHash(b *leaderboard.Board) wire.ETag {
	return wire.EmptyETag.Int(wire.AnswerFormat).Text("board").Int(b.ID).Int(b.Version).Int(int64(b.UpdatedTime))
}

// shown returns a board as the caller may see it, and its ETag: without the sources that are private to others.
func (h *boardHandlers) shown(c *call, b *leaderboard.Board) (shown boardJSON, etag string) {
	shown, etag = showBoard(b), boardTag(b)
	if b.Rules.Derive == nil || c.seesSources(b.Name) {
		return shown, etag
	}
	hash, rule := boardHash(b).Text("in part"), *b.Rules.Derive
	rule.From = []leaderboard.DeriveFrom{}
	for _, source := range b.Rules.Derive.From {
		if h.mayReadNamed(c, source.Board) {
			rule.From = append(rule.From, source)
			hash = hash.Text(source.Board)
		}
	}
	if len(rule.From) < len(b.Rules.Derive.From) {
		shown.Derive, etag = &rule, hash.Tag(b.Version)
	}
	return shown, etag
}

// mayChange holds a change of a board (nil: there is none) against If-Match and If-None-Match. It is asked with the board
// locked: of two who name the same state, one is refused.
func (c *call) mayChange(b *leaderboard.Board) error {
	match, none := c.r.Header["If-Match"], c.r.Header["If-None-Match"]
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

// sendBoard answers with a board, or with 304 when the client has it.
func (h *boardHandlers) sendBoard(c *call, status int, b *leaderboard.Board) error {
	shown, etag := h.shown(c, b)
	header := c.w.Header()
	header["Etag"] = []string{etag}
	if c.route.method == http.MethodGet {
		if tag, is := wire.NoneMatch(c.r.Header["If-None-Match"], etag); is {
			header["Etag"] = []string{tag}
			header["Vary"] = c.shared.values.vary
			header["Cache-Control"] = c.shared.values.private
			c.sendNothing(http.StatusNotModified)
			return nil
		}
	}
	return c.sendJSON(status, shown)
}
