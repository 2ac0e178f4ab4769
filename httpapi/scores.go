package httpapi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"leaderboard/internal/guard"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Writer writes entries.
type Writer interface {
	// Admit reports whether a submission of about that many bytes for a board ("": for several boards) would be refused now, so
	// that its body need not be read: nil, or the ErrOverloaded or ErrUnavailable of Submit. It reserves nothing, never blocks and
	// costs next to nothing.
	Admit(board string, bytes int64) error
	// Submit applies the entries in order. Errors: ErrBoardNotFound, ErrKeyReused, ErrOutcomeUnknown.
	Submit(ctx context.Context, r leaderboard.SubmitRequest) (leaderboard.Receipt, error)
	// SubmitMultiBoard is Submit for entries of several boards: one transaction for all. An entry of a derived board, or of a
	// board that does not exist, is rejected like an entry that breaks a rule.
	SubmitMultiBoard(ctx context.Context, r leaderboard.MultiBoardRequest) (leaderboard.MultiBoardReceipt, error)
	// Remove removes the entry of a member. ErrNotRanked if the member has no entry, ErrPeriodNotFound if the board has no such
	// period, ErrPeriodClosed if the period is over and not reopened, otherwise the errors of Submit.
	Remove(ctx context.Context, r leaderboard.RemoveRequest) (leaderboard.Receipt, error)
}

// scoreHandlers serve submissions and removals of entries.
type scoreHandlers struct {
	Resolver
	writer    Writer
	standings standingFinder
	plays     Plays
}

// submitBody is the body of POST …/scores. Required members are pointers, so that a missing member is not zero.
type submitBody struct {
	Entries []submitEntry `json:"entries"`
	Atomic  bool          `json:"atomic"`
}

// submit answers POST …/scores after the commit.
func (h *scoreHandlers) submit(c *Call) error {
	asked, err := standingsParams(c)
	if err != nil {
		return err
	}
	key, err := wire.IdempotencyKey(c.R.Header)
	if err != nil {
		return err
	}
	var body submitBody
	odd, err := decodeEntries(c, &body)
	if err != nil {
		return err
	}
	entries, err := submissionsOf(c, body.Entries, odd)
	if err != nil {
		return err
	}
	board, err := c.Params.BoardName()
	if err != nil {
		return err
	}
	if c.Player != nil {
		if err := h.maySubmit(c, board, &body, entries, asked); err != nil {
			return err
		}
	}
	receipt, err := h.writer.Submit(c.Ctx, leaderboard.SubmitRequest{Board: board, Key: key, Entries: entries, Atomic: body.Atomic, Moves: asked.on})
	if err != nil {
		return wire.WriteError(err)
	}
	c.shared.traffic.wrote(len(entries))
	standings := h.standings.of(c, asked, &receipt)
	return sendReceipt(c, receipt.Replayed, func(b []byte) []byte {
		b = appendResults(b, c.shared.base, receipt.Results, standings)
		return appendSeqs(append(b, ','), receipt.Seq, receipt.Seqs)
	})
}

// maySubmit checks a player's submission against the board's rule: players may submit, and only their own scores. It adds the
// plays of the tokens in the body to the entries.
func (h *scoreHandlers) maySubmit(c *Call, board string, body *submitBody, entries []leaderboard.Submission, asked standingsQuery) error {
	b, err := h.ForPlayers(c, board)
	if err != nil {
		return err
	}
	if asked.friends || asked.on && b.Rules.Visibility != leaderboard.VisibilityPublic && !b.Rules.PlayersRead() {
		return wire.Reject(wire.CodeForbidden, "This needs a key: a player's token shows no friends, and on a private board no ranks unless its rule players.read says so.")
	}
	var bad []wire.InputError
	why := "A player's token changes entries only as the board's policy does: op, set, add and keep_time need a key."
	for i := range entries {
		switch {
		case len(bad) == maxTold:
		case entries[i].Member != c.Player.Member:
			bad = append(bad, wire.InputError{Pointer: fmt.Sprintf("/entries/%d/member", i), Detail: "is not the player of the token"})
			why = "A player's token submits scores for the player alone."
		case entries[i].Edit != nil:
			bad = append(bad, wire.InputError{Pointer: fmt.Sprintf("/entries/%d", i), Detail: "op, set, add and keep_time need a key"})
		}
	}
	if bad != nil {
		return wire.Reject(wire.CodeForbidden, why, bad...)
	}
	if body.Atomic && b.Rules.NeedsPlay() { // a refusal counts against the play, whatever the results of the other entries
		return wire.Reject(wire.CodeForbidden, "Submissions with plays cannot be atomic.", wire.InputError{Pointer: "/atomic", Detail: "needs a key"})
	}
	verified := map[string]*leaderboard.PlayID{} // a play may be in many entries, though only one of them counts
	for i := range entries {
		token := body.Entries[i].play()
		switch {
		case token == nil:
			continue
		case !b.Rules.NeedsPlay():
			return ErrNoPlays
		case verified[*token] == nil:
			id, err := h.plays.PlayOf(c, board, *token, i)
			if err != nil {
				return err
			}
			verified[*token] = &id
		}
		entries[i].Play = verified[*token]
	}
	return nil
}

// maxTold is how many forbidden entries of a player an answer names.
const maxTold = 10

// boardsBody is the body of POST /v1/scores.
type boardsBody struct {
	Entries []boardEntry `json:"entries"`
	Atomic  bool         `json:"atomic"`
}

type boardEntry struct {
	Board       *string `json:"board"`
	submitEntry         // inlined
}

// submitToBoards answers POST /v1/scores after the commit: all boards have it, or none.
func (h *scoreHandlers) submitToBoards(c *Call) error {
	asked, err := standingsParams(c)
	if err != nil {
		return err
	}
	key, err := wire.IdempotencyKey(c.R.Header)
	if err != nil {
		return err
	}
	var body boardsBody
	odd, err := decodeEntries(c, &body)
	if err != nil {
		return err
	}
	entries, err := boardSubmissionsOf(c, body.Entries, odd)
	if err != nil {
		return err
	}
	receipt, err := h.writer.SubmitMultiBoard(c.Ctx, leaderboard.MultiBoardRequest{Key: key, Entries: entries, Atomic: body.Atomic, Moves: asked.on})
	if err != nil {
		return wire.WriteError(err)
	}
	for i := range entries {
		if _, found := receipt.Boards[entries[i].Board]; found { // counted for boards that exist, not for any name
			c.shared.traffic.wrote(1)
		}
	}
	standings := h.standings.ofBoards(c, asked, &receipt)
	return sendReceipt(c, receipt.Replayed, func(b []byte) []byte { return appendBoardsReceipt(b, c.shared.base, &receipt, standings) })
}

// submissionsOf checks the envelope: the number of entries and the required members of each. The writer checks the rules.
func submissionsOf(c *Call, in []submitEntry, odd wire.OddNumbers) ([]leaderboard.Submission, error) {
	if len(in) == 0 || len(in) > leaderboard.MaxLimit {
		return nil, wire.Malformed(wire.InputError{Pointer: "/entries", Detail: fmt.Sprintf("want 1 to %d entries", leaderboard.MaxLimit)})
	}
	var bad wire.BadFields
	out := make([]leaderboard.Submission, len(in))
	for i := range in {
		e := &in[i]
		if e.Member == nil {
			bad.Add(fmt.Sprintf("/entries/%d/member", i), "is required")
		} else {
			out[i].Member = *e.Member
		}
		out[i].Tiebreak, out[i].CreatedTime = e.Tiebreak, e.CreatedTime
		out[i].Fields = fieldValues(e.Fields, &bad, i, "fields")
		e.SubmitTerms.addTo(&out[i], &bad, i)
		switch {
		case e.Score != nil:
			out[i].Score = *e.Score
		case out[i].Edit != nil:
			out[i].Edit.NoScore = true
		default:
			bad.Add(fmt.Sprintf("/entries/%d/score", i), "is required")
		}
		if !out[i].Plain() {
			for _, f := range out[i].CheckForm() {
				bad.Add(wire.Clip(fmt.Sprintf("/entries/%d%s", i, f.Pointer)), f.Detail)
			}
		}
	}
	if err := bad.Err(); err != nil {
		return nil, err
	}
	addOdd(out, odd)
	for i := range in {
		if in[i].play() != nil && c.Player == nil {
			bad.Add(fmt.Sprintf("/entries/%d/play", i), "is for players, who submit with their tokens")
		}
	}
	if err := bad.Err(); err != nil {
		return nil, err
	}
	for i := range in {
		if in[i].CreatedTime != nil && !c.Scope.Includes(leaderboard.ScopeAdmin) {
			return nil, wire.Reject(wire.CodeForbidden, "created_time is for imports and corrections: it needs a key with scope admin.",
				wire.InputError{Pointer: fmt.Sprintf("/entries/%d/created_time", i), Detail: "needs scope admin"})
		}
	}
	return out, nil
}

// boardSubmissionsOf is submissionsOf for entries that name their boards. The writer rejects boards that do not exist, whatever
// the name.
func boardSubmissionsOf(c *Call, in []boardEntry, odd wire.OddNumbers) ([]leaderboard.BoardSubmission, error) {
	inner := make([]submitEntry, len(in))
	for i := range in {
		inner[i] = in[i].submitEntry
	}
	subs, err := submissionsOf(c, inner, odd)
	if err != nil {
		return nil, err
	}
	var bad wire.BadFields
	out, boards := make([]leaderboard.BoardSubmission, len(in)), map[string]bool{}
	for i, sub := range subs {
		if in[i].Board == nil {
			bad.Add(fmt.Sprintf("/entries/%d/board", i), "is required")
			continue
		}
		out[i] = leaderboard.BoardSubmission{Board: *in[i].Board, Submission: sub}
		boards[*in[i].Board] = true
	}
	if err := bad.Err(); err != nil {
		return nil, err
	}
	for i := range out {
		if err := c.mayName(out[i].Board, wire.InputError{Pointer: fmt.Sprintf("/entries/%d/board", i), Detail: guard.NotCovered}); err != nil {
			return nil, err
		}
	}
	if len(boards) > leaderboard.MaxBoardsPerSubmit {
		return nil, wire.Malformed(wire.InputError{Pointer: "/entries", Detail: fmt.Sprintf("want at most %d different boards", leaderboard.MaxBoardsPerSubmit)})
	}
	return out, nil
}

// remove answers DELETE …/members/{member}: the entry is taken out of the current periods, or of the one named.
func (h *scoreHandlers) remove(c *Call) error {
	req := leaderboard.RemoveRequest{Member: c.Params.Member(), Reopen: c.Params.Boolean("reopen"), Actor: c.Caller.Key}
	window, period := c.Params.Window(), c.Params.Text("period")
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	var err error
	if req.Board, err = c.Params.BoardName(); err != nil {
		return err
	}
	if _, b, err := h.Resolve(c, "", ""); err == nil && b.Rules.Derive != nil {
		return wire.Reject(leaderboard.CodeDerivedBoard, "") // the next step would put the entry back
	}
	if window != "" || period != "" {
		ref, _, err := h.Resolve(c, window, period)
		if err != nil {
			return err
		}
		if req.PeriodID = ref.ID; !ref.HasRow() {
			return leaderboard.ErrNotRanked
		}
	}
	receipt, err := h.writer.Remove(c.Ctx, req)
	if err != nil {
		return wire.WriteError(err)
	}
	c.shared.traffic.wrote(1)
	return sendReceipt(c, false, func(b []byte) []byte {
		b = wire.AppendString(append(b, `"member":`...), req.Member)
		return appendSeqs(append(b, ','), receipt.Seq, receipt.Seqs)
	})
}

// sendReceipt answers a write with the object that body appends. replayed: the answer is a repetition of the first one.
func sendReceipt(c *Call, replayed bool, body func([]byte) []byte) error {
	h := c.W.Header()
	h["Cache-Control"] = c.shared.values.noStore
	end := "}"
	if replayed {
		h[headerReplayed] = []string{"true"}
		end = `,"replayed":true}`
	}
	return c.SendAppended(func(b []byte) []byte { return append(body(append(b, '{')), end...) })
}

func appendBoardsReceipt(b []byte, base string, r *leaderboard.MultiBoardReceipt, standings standings) []byte {
	b = append(b, `"results":[`...)
	for i := range r.Results {
		if i > 0 {
			b = append(b, ',')
		}
		b = wire.AppendString(append(b, `{"board":`...), r.Results[i].Board)
		b = standings.appendTo(appendResult(append(b, ','), base, &r.Results[i].Result), i, &r.Results[i].Result)
		b = append(b, '}')
	}
	b = append(b, `],"boards":{`...)
	for i, name := range slices.Sorted(maps.Keys(r.Boards)) {
		if i > 0 {
			b = append(b, ',')
		}
		seqs := r.Boards[name]
		b = append(wire.AppendString(b, name), `:{`...)
		b = append(appendSeqs(b, seqs.Seq, seqs.Seqs), '}')
	}
	return append(b, '}')
}

func appendResults(b []byte, base string, results []leaderboard.Result, standings standings) []byte {
	b = append(b, `"results":[`...)
	for i := range results {
		r := &results[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(standings.appendTo(appendResult(append(b, '{'), base, r), i, r), '}')
	}
	return append(b, ']')
}

// appendResult appends the members of a result's object, without the braces.
func appendResult(b []byte, base string, r *leaderboard.Result) []byte {
	b = wire.AppendString(append(b, `"member":`...), r.Member)
	b = wire.AppendString(append(b, `,"status":`...), string(r.Status))
	b = wire.AppendOptInt(append(b, `,"score":`...), r.Score)
	b = wire.AppendOptInt(append(b, `,"previous_score":`...), r.Previous)
	b = wire.AppendOptTime(append(b, `,"created_time":`...), r.CreatedTime)
	if r.Tiebreak != nil {
		b = appendTiebreak(b, r)
	}
	if r.Rule != nil {
		b = appendRule(append(b, `,"error":`...), base, r.Rule)
	}
	return b
}

// appendRule appends the problem of one rejected entry.
func appendRule(b []byte, base string, rule *leaderboard.RuleError) []byte {
	k := wire.KindOf(rule.Code)
	b = wire.AppendString(append(b, `{"type":`...), k.Type(base))
	b = wire.AppendString(append(b, `,"title":`...), k.Title)
	b = strconv.AppendInt(append(b, `,"status":`...), int64(k.Status), 10)
	b = wire.AppendString(append(b, `,"detail":`...), rule.Detail)
	return append(b, '}')
}

// appendSeqs appends seq, and seqs when the board has several windows.
func appendSeqs(b []byte, seq int64, seqs map[leaderboard.Window]int64) []byte {
	b = strconv.AppendInt(append(b, `"seq":`...), seq, 10)
	if len(seqs) < 2 {
		return b
	}
	b = append(b, `,"seqs":{`...)
	for i, w := range slices.Sorted(maps.Keys(seqs)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(wire.AppendString(b, string(w)), ':')
		b = strconv.AppendInt(b, seqs[w], 10)
	}
	return append(b, '}')
}
