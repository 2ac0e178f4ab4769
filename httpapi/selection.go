package httpapi

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Selection is the periods that a request about several boards asks about: one period of each board.
type Selection struct {
	Target                         // without Ref; Private as for one board, the mode in Query
	Refs   []leaderboard.PeriodRef // one of each board
	Absent []string                // boards that have no such window or period, or whose periods this server does not know

	MinSeqs map[string]int64 // by board, nil if any state will do
}

// Boards returns the names of the boards.
func (s *Selection) Boards() []string {
	names := make([]string, len(s.Refs))
	for i := range s.Refs {
		names[i] = s.Refs[i].Board
	}
	return names
}

// selection resolves the boards that are named or have the labels, if the caller may see them. For other callers a named board
// does not exist, and a board with the labels is left out. Its error has all errors of the parameters so far. most is how many
// names it takes.
func (r Resolver) selection(c *Call, most int) (Selection, error) {
	boards, labels := c.Params.Text("boards"), c.Params.labels()
	if c.Params.Query.Has("boards") == c.Params.Query.Has("labels") {
		c.Params.BadParam("boards", "want either names in boards or labels in labels, not both")
	}
	window, period := c.Params.Window(), c.Params.Text("period")
	mode := c.Params.Mode()
	s := Selection{Target: Target{Shows: c.requestedShows()}}
	names := boardsParam(c, boards, most)
	s.MinSeqs = minSeqsParam(c)
	if err := c.Params.BadInput(); err != nil {
		return s, err
	}
	named := names != nil
	if !named {
		var err error
		if names, err = r.Catalog.Labelled(c.Ctx, labels); err != nil {
			return s, err
		}
	}
	var why error // the first board is absent
	for _, name := range names {
		ref, board, err := r.resolveSeen(c, name, window, period, s.MinSeqs[name])
		switch {
		case err == nil:
			s.Refs = append(s.Refs, ref)
			s.Private = s.Private || board.Rules.Visibility != leaderboard.VisibilityPublic
		case errors.Is(err, leaderboard.ErrPeriodNotFound), errors.Is(err, leaderboard.ErrUnknownRule):
			if s.Absent = append(s.Absent, name); why == nil {
				why = err
			}
		case named && errors.Is(err, leaderboard.ErrBoardNotFound):
			return s, wire.Reject("board-not-found", "No board is called "+name+".")
		case named, !wire.IsRejection(err) && !errors.Is(err, leaderboard.ErrBoardNotFound):
			return s, err
		}
	}
	if len(s.Refs) == 0 && why != nil {
		return s, why
	}
	if len(s.Refs) == 0 {
		return s, wire.Reject("board-not-found", "No board has these labels.")
	}
	for name := range s.MinSeqs {
		if !slices.ContainsFunc(s.Refs, func(ref leaderboard.PeriodRef) bool { return ref.Board == name }) {
			return s, wire.Malformed(wire.InputError{Parameter: "min_seq", Detail: "board " + name + " is not one of those asked about"})
		}
	}
	slices.SortFunc(s.Refs, func(a, b leaderboard.PeriodRef) int { return cmp.Compare(a.Board, b.Board) })
	s.Query.Mode = cmp.Or(mode, commonMode(s.Refs))
	return s, nil
}

// boardsParam reads a list of at most most names, nil for an empty list.
func boardsParam(c *Call, list string, most int) []string {
	if list == "" {
		return nil
	}
	names := strings.Split(list, ",")
	slices.Sort(names)
	valid := len(names) <= most && len(slices.Compact(slices.Clone(names))) == len(names)
	for _, name := range names {
		valid = valid && leaderboard.CheckBoardName(name) == nil
	}
	if !valid {
		c.Params.BadParam("boards", fmt.Sprintf("want 1 to %d names of boards separated by commas, none twice", most))
	}
	return names
}

// minSeqsParam returns the least states of the parameter min_seq: pairs of board and seq.
func minSeqsParam(c *Call) map[string]int64 {
	list := c.Params.Text("min_seq")
	if list == "" {
		return nil
	}
	seqs := map[string]int64{}
	for pair := range strings.SplitSeq(list, ",") {
		name, text, _ := strings.Cut(pair, ":")
		seq, ok := wire.ParseInteger(text)
		if _, twice := seqs[name]; !ok || seq < 0 || twice || leaderboard.CheckBoardName(name) != nil {
			c.Params.BadParam("min_seq", "want board:seq pairs separated by commas, such as moba:5,card:7, no board twice")
			return nil
		}
		seqs[name] = seq
	}
	return seqs
}

// commonMode returns the mode of the boards if all have the same, strict otherwise.
func commonMode(refs []leaderboard.PeriodRef) leaderboard.Mode {
	for i := range refs {
		if refs[i].Rules.Mode != refs[0].Rules.Mode {
			return leaderboard.ModeStrict
		}
	}
	return refs[0].Rules.Mode
}

// Reached reports whether states are as new as the request wants.
func (s *Selection) Reached(states []leaderboard.State) bool {
	for i := range states {
		if states[i].Seq < s.MinSeqs[s.Refs[i].Board] {
			return false
		}
	}
	return true
}

// State returns the state of an answer as a whole: Seq and Total are sums, the source is the slowest layer.
func (s *Selection) State(states []leaderboard.State) leaderboard.State {
	all := leaderboard.State{Total: leaderboard.Total(states), Source: leaderboard.SourceLocal}
	for i := range states {
		st := &states[i]
		all.Seq += st.Seq
		all.Stale = all.Stale || st.Stale || s.Refs[i].Stale
		if slower(st.Source, all.Source) {
			all.Source = st.Source
		}
	}
	return all
}

// slower reports whether a source is a slower layer than another.
func slower(a, b leaderboard.Source) bool {
	layers := []leaderboard.Source{leaderboard.SourceLocal, leaderboard.SourceRedis, leaderboard.SourceMySQL}
	return slices.Index(layers, a) > slices.Index(layers, b)
}

// RetrySelection calls answer with the boards of the request, and again if the catalog was outdated, like RetryOutdated. deep:
// entries are counted on each board, and each board counts as a unit of heavy work, beyond the units that the route counts.
func (r Resolver) RetrySelection(c *Call, most int, deep bool, answer func(*Selection) error) error {
	s, err := r.selection(c, most)
	if err != nil {
		return err
	}
	if more := len(s.Refs) - c.Route.Heavy; deep && more > 0 {
		if err := c.Charge(leaderboard.Charge{leaderboard.QuotaKindHeavy: more}); err != nil {
			return err
		}
	}
	if err = answer(&s); err == nil {
		return nil
	}
	boards := make([]string, len(s.Refs))
	for i := range s.Refs {
		boards[i] = s.Refs[i].Board
	}
	if !r.Renewed(c.Ctx, err, boards...) {
		return err
	}
	if s, err = r.selection(c, most); err != nil {
		return err
	}
	return answer(&s)
}
