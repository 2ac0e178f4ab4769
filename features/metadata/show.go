package metadata

import (
	"context"
	"slices"
	"time"

	"leaderboard/httpapi"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Reader knows the metadata of entries. Errors: ErrOverloaded, ErrUnavailable.
type Reader interface {
	// Metadata returns the metadata of entries, in the order of the queries and of their entries, all read by one statement.
	// The boards must have the rule.
	Metadata(ctx context.Context, of []leaderboard.MetadataQuery) ([][]leaderboard.EntryMetadata, error)
}

// Show looks metadata up for an answer that may come from any layer. It is shown if it belongs to the entry in the answer;
// when an entry has been replaced, the answer and the metadata are read again from MySQL, at one state. Without
// metadata=true, and on boards without the rule, nothing is looked up.
type Show struct {
	Reader   Reader
	Rankings leaderboard.Rankings
}

// Param implements httpapi.Show.
func (Show) Param() string { return "metadata" }

// On implements httpapi.Show.
func (Show) On(rules *leaderboard.Rules) bool { return rules.KeepsMetadata() }

// Find looks metadata up. It reads the answer again when the metadata does not belong to these entries, and when the answer
// is then not new enough.
func (s Show) Find(ctx context.Context, a *httpapi.Shown) (httpapi.Extra, error) {
	began := time.Now()
	found, err := s.Reader.Metadata(ctx, []leaderboard.MetadataQuery{{Period: a.Period, At: a.State.Revision, Entries: a.Entries}})
	if err != nil {
		return nil, err
	}
	if leaderboard.MetadataMoved(found) || time.Since(began) > httpapi.SlowLookUp && !a.Fresh() {
		texts, err := a.Again()
		return showing(texts, false), err
	}
	texts, lasts := make([]string, len(a.Entries)), true
	for i := range texts {
		texts[i], lasts = found[0][i].Body, lasts && found[0][i].Lasts
	}
	return showing(texts, lasts), nil
}

// FindPast returns a member's entries in several periods with the metadata of each. An entry that has been replaced is read
// again.
func (s Show) FindPast(ctx context.Context, refs []leaderboard.PeriodRef, member string, found []leaderboard.PastEntry) ([]leaderboard.PastEntry, httpapi.Extra, error) {
	texts := make([]string, len(found))
	var ask []leaderboard.MetadataQuery
	var at []int
	for i := range found {
		if found[i].Ranked != nil && refs[i].Rules.KeepsMetadata() {
			ask, at = append(ask, leaderboard.MetadataQuery{Period: &refs[i], At: found[i].Revision, Entries: []leaderboard.Entry{found[i].Ranked.Entry}}), append(at, i)
		}
	}
	if len(ask) == 0 {
		return found, showing(texts, false), nil
	}
	stored, err := s.Reader.Metadata(ctx, ask)
	if err != nil {
		return nil, nil, err
	}
	past := slices.Clone(found)
	for j, i := range at {
		if texts[i] = stored[j][0].Body; !stored[j][0].Moved {
			continue
		}
		q := leaderboard.Query{Mode: leaderboard.ModeStrict, MinSeq: found[i].Seq, Metadata: true}
		s, err := s.Rankings.Members(ctx, refs[i], leaderboard.MembersQuery{Query: q, Members: []string{member}})
		if err != nil {
			return nil, nil, err
		}
		if past[i] = (leaderboard.PastEntry{State: s.State}); len(s.Entries) > 0 {
			past[i].Ranked, texts[i] = &s.Entries[0].Ranked, s.Entries[0].Metadata
		}
	}
	return past, showing(texts, false), nil
}

// shown is the metadata of entries, "" without metadata.
type shown struct {
	texts []string
	hash  wire.ETag // of the texts
	lasts bool
}

func showing(texts []string, lasts bool) *shown {
	s := &shown{texts, wire.EmptyETag, lasts}
	for _, text := range texts {
		s.hash = s.hash.Text(text)
	}
	return s
}

// Lasts implements httpapi.Lasting.
func (s *shown) Lasts() bool { return s.lasts }

// AddTo implements httpapi.Extra: the metadata of an entry can come back in another state.
func (s *shown) AddTo(etag wire.ETag) wire.ETag { return etag.Text("metadata").Int(int64(s.hash)) }

// AppendTo implements httpapi.Extra.
func (s *shown) AppendTo(b []byte, i int) []byte {
	if s.texts[i] == "" {
		return b
	}
	return append(append(b, `,"metadata":`...), s.texts[i]...)
}
