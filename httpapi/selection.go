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

// selection is what a request about several boards looks at: one period of each.
type selection struct {
	target // without ref; private as for one board, the mode in query
	refs   []leaderboard.PeriodRef
	absent []string // boards that have no such window or period, or whose periods this server does not know

	minSeqs map[string]int64 // by board, nil when any state will do
}

// boards returns the names of the boards.
func (s *selection) boards() []string {
	names := make([]string, len(s.refs))
	for i := range s.refs {
		names[i] = s.refs[i].Board
	}
	return names
}

// selection resolves the boards that are named or have the labels, if the caller may see them. For other callers a board
// that is named does not exist, and one with the labels is left out. It reports everything that was wrong with the
// parameters so far. most is how many names it takes.
func (r resolver) selection(c *call, most int) (selection, error) {
	boards, labels := c.text("boards"), c.labels()
	if c.query.Has("boards") == c.query.Has("labels") {
		c.badParam("boards", "want the names of boards in boards, or what they are about in labels, and not both")
	}
	window, period := c.window(), c.text("period")
	mode := c.mode()
	s := selection{target: target{profiles: c.boolean("profiles")}}
	names := boardsParam(c, boards, most)
	s.minSeqs = minSeqsParam(c)
	if err := c.badInput(); err != nil {
		return s, err
	}
	named := names != nil
	if !named {
		var err error
		if names, err = r.catalog.Labelled(c.ctx, labels); err != nil {
			return s, err
		}
	}
	var why error // the first board is absent
	for _, name := range names {
		ref, board, err := r.resolveOn(c, name, window, period)
		switch {
		case err == nil:
			s.refs = append(s.refs, ref)
			s.private = s.private || board.Rules.Visibility != leaderboard.VisibilityPublic
		case errors.Is(err, leaderboard.ErrPeriodNotFound), errors.Is(err, leaderboard.ErrUnknownRule):
			if s.absent = append(s.absent, name); why == nil {
				why = err
			}
		case named && errors.Is(err, leaderboard.ErrBoardNotFound):
			return s, wire.Reject("board-not-found", "No board is called "+name+".")
		case named, !wire.IsRejection(err) && !errors.Is(err, leaderboard.ErrBoardNotFound):
			return s, err
		}
	}
	if len(s.refs) == 0 && why != nil {
		return s, why
	}
	if len(s.refs) == 0 {
		return s, wire.Reject("board-not-found", "No board has these labels.")
	}
	for name := range s.minSeqs {
		if !slices.ContainsFunc(s.refs, func(ref leaderboard.PeriodRef) bool { return ref.Board == name }) {
			return s, wire.Malformed(wire.InputError{Parameter: "min_seq", Detail: "board " + name + " is not one of those asked about"})
		}
	}
	slices.SortFunc(s.refs, func(a, b leaderboard.PeriodRef) int { return cmp.Compare(a.Board, b.Board) })
	s.query.Mode = cmp.Or(mode, commonMode(s.refs))
	return s, nil
}

// boardsParam reads a list of at most so many names, nil when there is none.
func boardsParam(c *call, list string, most int) []string {
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
		c.badParam("boards", fmt.Sprintf("want 1 to %d names of boards separated by commas, none twice", most))
	}
	return names
}

// minSeqsParam returns the least states asked for: pairs of board and seq.
func minSeqsParam(c *call) map[string]int64 {
	list := c.text("min_seq")
	if list == "" {
		return nil
	}
	seqs := map[string]int64{}
	for pair := range strings.SplitSeq(list, ",") {
		name, text, _ := strings.Cut(pair, ":")
		seq, ok := wire.ParseInteger(text)
		if _, twice := seqs[name]; !ok || seq < 0 || twice || leaderboard.CheckBoardName(name) != nil {
			c.badParam("min_seq", "want board:seq pairs separated by commas, such as moba:5,card:7, no board twice")
			return nil
		}
		seqs[name] = seq
	}
	return seqs
}

// commonMode returns the mode of the boards when they have the same, strict otherwise.
func commonMode(refs []leaderboard.PeriodRef) leaderboard.Mode {
	for i := range refs {
		if refs[i].Rules.Mode != refs[0].Rules.Mode {
			return leaderboard.ModeStrict
		}
	}
	return refs[0].Rules.Mode
}

// reached reports whether states are as new as was asked for.
func (s *selection) reached(states []leaderboard.State) bool {
	for i := range states {
		if states[i].Seq < s.minSeqs[s.refs[i].Board] {
			return false
		}
	}
	return true
}

// state returns that of an answer as a whole: Seq and Total are sums, the source is the slowest layer.
func (s *selection) state(states []leaderboard.State) leaderboard.State {
	all := leaderboard.State{Total: leaderboard.Total(states), Source: leaderboard.SourceLocal}
	for i := range states {
		st := &states[i]
		all.Seq += st.Seq
		all.Stale = all.Stale || st.Stale || s.refs[i].Stale
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

// retrySelection calls answer with the boards of the request, and again when the catalog was outdated, see
// retryOutdated. deep: entries are counted on each board, and each counts as a unit of heavy work, as far as the route does
// not count for them.
func (r resolver) retrySelection(c *call, most int, deep bool, answer func(*selection) error) error {
	s, err := r.selection(c, most)
	if err != nil {
		return err
	}
	if more := len(s.refs) - c.route.heavy; deep && more > 0 {
		if err := c.charge(leaderboard.Charge{leaderboard.QuotaKindHeavy: more}); err != nil {
			return err
		}
	}
	err = answer(&s)
	if err == nil || !errors.Is(err, leaderboard.ErrPeriodNotFound) && !errors.Is(err, leaderboard.ErrSeqAhead) {
		return err
	}
	for i := range s.refs {
		if renewErr := r.catalog.Renew(c.ctx, s.refs[i].Board); renewErr != nil && !errors.Is(renewErr, leaderboard.ErrBoardNotFound) {
			return err
		}
	}
	if s, err = r.selection(c, most); err != nil {
		return err
	}
	return answer(&s)
}
