package httpapi

import (
	"slices"
	"time"

	"leaderboard/leaderboard"
)

// Metadata is looked up beside an answer that may come from any layer. It is shown where it is that of the entry in the answer;
// when one entry has another by now, the answer and the metadata are read again from MySQL, at one state. Without
// metadata=true, and on boards without the rule, nothing is looked up.

// MaxMetadataBoards is how many boards standings with metadata may name.
const MaxMetadataBoards = 100

// page returns a page, and the metadata of its entries when they are asked for, nil otherwise.
func (l ProfileFinder) page(c *Call, on *Target, q leaderboard.PageQuery) (*leaderboard.Page, []string, error) {
	page, err := l.Rankings.Page(c.Ctx, on.Ref, q)
	if err != nil || !on.Metadata {
		return page, nil, err
	}
	entries := make([]leaderboard.Entry, len(page.Entries))
	for i := range entries {
		entries[i] = page.Entries[i].Entry
	}
	bodies, same, err := l.bodies(c, on, &page.State, entries)
	if err != nil || same {
		return page, bodies, err
	}
	q.Metadata, q.MinSeq = true, max(q.MinSeq, page.Seq)
	if page, err = l.Rankings.Page(c.Ctx, on.Ref, q); err != nil {
		return nil, nil, err
	}
	bodies = make([]string, len(page.Entries))
	for i := range bodies {
		bodies[i] = page.Entries[i].Metadata
	}
	return page, bodies, nil
}

// Members returns the standings of given members with their metadata, as page does for a page; after the metadata of the entries comes that of the member itself, if it is asked for.
func (l ProfileFinder) Members(c *Call, on *Target, q leaderboard.MembersQuery) (*leaderboard.Standings, []string, error) {
	s, err := l.Rankings.Members(c.Ctx, on.Ref, q)
	if err != nil || !on.Metadata {
		return s, nil, err
	}
	entries := []leaderboard.Entry{}
	for _, r := range standingsIn(s) {
		entries = append(entries, r.Entry)
	}
	bodies, same, err := l.bodies(c, on, &s.State, entries)
	if err != nil {
		return nil, nil, err
	}
	if same {
		return s, bodies, nil
	}
	q.Metadata, q.MinSeq = true, max(q.MinSeq, s.Seq)
	if s, err = l.Rankings.Members(c.Ctx, on.Ref, q); err != nil {
		return nil, nil, err
	}
	bodies = nil
	for _, r := range standingsIn(s) {
		bodies = append(bodies, r.Metadata)
	}
	return s, bodies, nil
}

// standingsIn returns the entries of an answer about members, and then that of the member itself.
func standingsIn(s *leaderboard.Standings) (out []*leaderboard.Ranked) {
	for i := range s.Entries {
		out = append(out, &s.Entries[i].Ranked)
	}
	if s.Self != nil {
		out = append(out, &s.Self.Ranked)
	}
	return out
}

// bodies looks metadata up. same reports that it is that of these entries, and that the answer is still new enough after it.
func (l ProfileFinder) bodies(c *Call, on *Target, st *leaderboard.State, entries []leaderboard.Entry) (bodies []string, same bool, err error) {
	began := time.Now()
	found, err := l.Rankings.Metadata(c.Ctx, []leaderboard.MetadataQuery{{Period: &on.Ref, Entries: entries}})
	if err != nil || leaderboard.MetadataMoved(found) || time.Since(began) > slowProfiles && !l.Feed.Fresh(on.Ref.ID, st.Revision) {
		return nil, false, err
	}
	bodies = make([]string, len(entries))
	for i := range bodies {
		bodies[i] = found[0][i].Body
	}
	return bodies, true, nil
}

// PastBodies returns what a member has in several periods with the metadata of each, nil when none is asked for. An entry that
// has another by now is read again.
func PastBodies(c *Call, rankings Rankings, asked bool, refs []leaderboard.PeriodRef, member string, found []leaderboard.PastEntry) (
	past []leaderboard.PastEntry, bodies []string, err error,
) {
	if !asked {
		return found, nil, nil
	}
	bodies = make([]string, len(found))
	var ask []leaderboard.MetadataQuery
	var at []int
	for i := range found {
		if found[i].Ranked != nil && refs[i].Rules.KeepsMetadata() {
			ask, at = append(ask, leaderboard.MetadataQuery{Period: &refs[i], Entries: []leaderboard.Entry{found[i].Ranked.Entry}}), append(at, i)
		}
	}
	if len(ask) == 0 {
		return found, bodies, nil
	}
	stored, err := rankings.Metadata(c.Ctx, ask)
	if err != nil {
		return nil, nil, err
	}
	past = slices.Clone(found)
	for j, i := range at {
		if bodies[i] = stored[j][0].Body; !stored[j][0].Moved {
			continue
		}
		q := leaderboard.Query{Mode: leaderboard.ModeStrict, MinSeq: found[i].Seq, Metadata: true}
		s, err := rankings.Members(c.Ctx, refs[i], leaderboard.MembersQuery{Query: q, Members: []string{member}})
		if err != nil {
			return nil, nil, err
		}
		if past[i] = (leaderboard.PastEntry{State: s.State}); len(s.Entries) > 0 {
			past[i].Ranked, bodies[i] = &s.Entries[0].Ranked, s.Entries[0].Metadata
		}
	}
	return past, bodies, nil
}
