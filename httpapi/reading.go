package httpapi

import "leaderboard/leaderboard"

// Reading asks for entries, and for the data to show with them.
type Reading struct {
	Rankings Rankings
	Feed     Feed
}

// page returns a page, its state, and the data to show with its entries.
func (r Reading) page(c *Call, on *Target, q leaderboard.PageQuery) (*leaderboard.Page, leaderboard.State, Extras, error) {
	page, err := r.Rankings.Page(c.Ctx, on.Ref, q)
	if err != nil {
		return nil, leaderboard.State{}, nil, err
	}
	if on.Shows == nil {
		return page, page.State, nil, nil
	}
	if shown := on.keptExtras(page, c.Strings); shown != nil {
		return page, page.State, shown, nil
	}
	read := page
	st, shown, err := r.findExtras(c, on, &page.State, pointers(page.Entries), func() (*leaderboard.State, []*leaderboard.Ranked, error) {
		var err error
		kept := q
		kept.Metadata, kept.MinSeq = true, max(q.MinSeq, page.Seq)
		if read, err = r.Rankings.Page(c.Ctx, on.Ref, kept); err != nil {
			return nil, nil, err
		}
		return &read.State, pointers(read.Entries), nil
	})
	return read, st, shown, err
}

// Members returns the standings of given members, their state, and the data to show with their entries, see Standings.All.
func (r Reading) Members(c *Call, on *Target, q leaderboard.MembersQuery) (*leaderboard.Standings, leaderboard.State, Extras, error) {
	s, err := r.Rankings.Members(c.Ctx, on.Ref, q)
	if err != nil {
		return nil, leaderboard.State{}, nil, err
	}
	if on.Shows == nil {
		return s, s.State, nil, nil
	}
	read := s
	st, shown, err := r.findExtras(c, on, &s.State, s.All(), func() (*leaderboard.State, []*leaderboard.Ranked, error) {
		var err error
		kept := q
		kept.Metadata, kept.MinSeq = true, max(q.MinSeq, s.Seq)
		if read, err = r.Rankings.Members(c.Ctx, on.Ref, kept); err != nil {
			return nil, nil, err
		}
		return &read.State, read.All(), nil
	})
	return read, st, shown, err
}

// FindExtras returns the state of an answer that was put together from entries, and the data to show with them.
func (r Reading) FindExtras(c *Call, on *Target, st *leaderboard.State, entries []leaderboard.Ranked) (leaderboard.State, Extras, error) {
	return r.findExtras(c, on, st, pointers(entries), nil)
}

func (r Reading) findExtras(
	c *Call, on *Target, st *leaderboard.State, entries []*leaderboard.Ranked, again func() (*leaderboard.State, []*leaderboard.Ranked, error),
) (leaderboard.State, Extras, error) {
	if len(entries) == 0 || on.Shows == nil {
		return *st, nil, nil
	}
	a := &Shown{Period: &on.Ref, State: *st}
	a.setEntries(entries)
	a.Fresh = func() bool { return r.Feed.Fresh(on.Ref.ID, a.State.Revision) }
	a.Again = func() ([]string, error) {
		st, entries, err := again()
		if err != nil {
			return nil, err
		}
		a.State = *st
		return a.setEntries(entries), nil
	}
	list, err := a.Find(c.Ctx, on.Shows)
	return a.State, list, err
}

func pointers(entries []leaderboard.Ranked) []*leaderboard.Ranked {
	list := make([]*leaderboard.Ranked, len(entries))
	for i := range entries {
		list[i] = &entries[i]
	}
	return list
}

// pastExtras returns the entries of a member in several periods, and the data to show with them; kept may be nil.
func pastExtras(c *Call, kept Kept, refs []leaderboard.PeriodRef, member string, found []leaderboard.PastEntry) ([]leaderboard.PastEntry, Extras, error) {
	if kept == nil {
		return found, nil, nil
	}
	found, shown, err := kept.FindPast(c.Ctx, refs, member, found)
	return found, Extras{shown}, err
}
