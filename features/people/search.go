package people

import (
	"context"
	"slices"

	"leaderboard/internal/mysql"
	"leaderboard/internal/names"
)

// searchedTogether is how many periods one statement searches.
const searchedTogether = 100

// SearchMembers finds members. By name it searches the profiles. By id it finds members that have a profile, are hidden
// somewhere, or have an entry in one of the first MaxSearched open periods, beginning with periods without an end.
// Each search reads at most q.Limit rows from the beginning of a range of an index. Errors: ErrUnavailable.
func (s *Store) SearchMembers(ctx context.Context, q MemberQuery) (FoundMembers, error) {
	var out FoundMembers
	var err error
	if q.ByName {
		out, err = s.membersByName(ctx, q)
	} else {
		out, err = s.membersByID(ctx, q)
	}
	return out, mysql.Translate(ctx, "search members", err)
}

func (s *Store) membersByName(ctx context.Context, q MemberQuery) (out FoundMembers, err error) {
	var rows []profileRow
	if err = s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(namesText(profileColumns, q))); err != nil {
		return out, err
	}
	for i := range rows {
		p := rows[i].profile()
		out.Members = append(out.Members, FoundMember{Member: p.Member, Profile: &p})
	}
	return out, nil
}

func namesText(columns string, q MemberQuery) string {
	prefix := names.Fold(q.Prefix)
	t := (&mysql.Text{}).Str("SELECT " + columns + " FROM profiles FORCE INDEX (profiles_name) WHERE ")
	if q.AfterName != "" {
		t.Str("(name_key > ").Hex(q.AfterName).Str(" OR name_key = ").Hex(q.AfterName).Str(" AND member > ").Hex(q.AfterMember).Str(")")
	} else {
		t.Str("name_key > '' AND name_key >= ").Hex(prefix)
	}
	return t.Str(beyond("name_key", prefix)).Str(" ORDER BY name_key, member LIMIT ").Int(int64(max(0, q.Limit))).String()
}

// beyond returns the condition that a column is not past the values with a prefix. Text in UTF-8 has no byte 0xff.
func beyond(column, prefix string) string {
	if prefix == "" {
		return ""
	}
	end := []byte(prefix)
	end[len(end)-1]++
	return (&mysql.Text{}).Str(" AND " + column + " < ").HexBytes(end).String()
}

func (s *Store) membersByID(ctx context.Context, q MemberQuery) (out FoundMembers, err error) {
	var periods []int64
	if err = s.db.Pool.SelectContext(ctx, &periods, s.db.Limited(openPeriods), MaxSearched+1); err != nil {
		return out, err
	}
	if len(periods) > MaxSearched {
		out.Partial, periods = true, periods[:MaxSearched]
	}
	texts := []string{idsText("profiles", nil, q), idsText("hidden_members", nil, q)}
	for part := range slices.Chunk(periods, searchedTogether) {
		texts = append(texts, idsText("entries", part, q))
	}
	var ids []string
	for _, text := range texts {
		var found [][]byte
		if err = s.db.Pool.SelectContext(ctx, &found, s.db.Limited(text)); err != nil {
			return out, err
		}
		for _, id := range found {
			ids = append(ids, string(id))
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	ids = ids[:min(len(ids), max(0, q.Limit))]
	profiles, err := s.Profiles(ctx, ids)
	if err != nil {
		return out, err
	}
	byMember := make(map[string]*Profile, len(profiles))
	for i := range profiles {
		byMember[profiles[i].Member] = &profiles[i]
	}
	for _, id := range ids {
		out.Members = append(out.Members, FoundMember{Member: id, Profile: byMember[id]})
	}
	return out, nil
}

// openPeriods begins with the periods without an end: NULL comes before all times.
const openPeriods = "SELECT id FROM periods FORCE INDEX (periods_end) WHERE state = 'open' ORDER BY ends_at, id LIMIT ?"

// idsText selects the next ids of members from a table; of entries, from each of some periods.
func idsText(table string, periods []int64, q MemberQuery) string {
	limit, t := int64(max(0, q.Limit)), &mysql.Text{}
	part := func(index, where string) {
		t.Str("SELECT DISTINCT member FROM " + table + " FORCE INDEX (" + index + ") WHERE " + where + "member > ").Hex(q.AfterMember)
		if q.AfterMember < q.Prefix {
			t.Str(" AND member >= ").Hex(q.Prefix)
		}
		t.Str(beyond("member", q.Prefix)).Str(" ORDER BY member LIMIT ").Int(limit)
	}
	switch table {
	case "profiles":
		part("PRIMARY", "")
	case "hidden_members":
		part("hidden_members_member", "")
	default:
		t.Str("SELECT DISTINCT member FROM (")
		for i, id := range periods {
			if i > 0 {
				t.Str(" UNION ALL ")
			}
			t.Str("(")
			part("PRIMARY", (&mysql.Text{}).Str("period_id = ").Int(id).Str(" AND ").String())
			t.Str(")")
		}
		t.Str(") found ORDER BY member LIMIT ").Int(limit)
	}
	return t.String()
}

// shownTogether is how many members a search in a period looks at with one statement.
const shownTogether = 500

// FindMembers finds members with an entry in a period by their shown names. It reads all names of a period of at most
// MaxNamesRead entries. For a larger one it reads at most MaxShownSearched names from the beginning of a range of an
// index, then as many ids of entries. Entries of hidden members are in no period. Errors: ErrUnavailable.
func (s *Store) FindMembers(ctx context.Context, q ShownQuery) (out ShownMembers, err error) {
	err = s.alone(ctx, func(ctx context.Context) error {
		var entries []int64
		if err = s.db.Pool.SelectContext(ctx, &entries, s.db.Limited(entriesOf), q.Period); err != nil || len(entries) == 0 {
			return mysql.Translate(ctx, "find members", err)
		}
		if entries[0] <= MaxNamesRead {
			out, err = s.findByWords(ctx, &q)
		} else {
			out, err = s.findByBeginning(ctx, q)
		}
		return err
	})
	return out, err
}

const entriesOf = "SELECT entry_count FROM periods FORCE INDEX (PRIMARY) WHERE id = ? LIMIT 1"

// findByWords reads all names of a period.
func (s *Store) findByWords(ctx context.Context, q *ShownQuery) (out ShownMembers, err error) {
	search, last := names.NewSearch(q.Prefix, q.Whole, q.After, q.Limit), ""
	for {
		var rows []struct {
			Member []byte `db:"member"`
			Name   []byte `db:"name_key"`
		}
		if err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(shownNames(q.Period, last))); err != nil {
			return out, mysql.Translate(ctx, "find members", err)
		}
		for i := range rows {
			last = string(rows[i].Member)
			search.Add(names.Name{Folded: string(rows[i].Name), Member: last})
		}
		if len(rows) < readTogether {
			return ShownMembers{Members: search.Found()}, nil
		}
	}
}

// readTogether is how many names of a period one statement reads.
const readTogether = 2000

// shownNames selects the names of the next members of a period, by their ids.
func shownNames(period int64, after string) string {
	t := (&mysql.Text{}).Str("SELECT e.member, COALESCE(p.name_key, '') AS name_key FROM entries e FORCE INDEX (PRIMARY)" +
		" LEFT JOIN profiles p FORCE INDEX (PRIMARY) ON p.member = e.member WHERE e.period_id = ").Int(period)
	return t.Str(" AND e.member > ").Hex(after).Str(" ORDER BY e.member LIMIT ").Int(readTogether).String()
}

// findByBeginning reads the names of all members that begin with the prefix, and keeps the names of members in the period.
func (s *Store) findByBeginning(ctx context.Context, q ShownQuery) (out ShownMembers, err error) {
	ask := MemberQuery{Prefix: q.Prefix, Limit: shownTogether}
	named := shownPart{ // members with a display name, if they have an entry
		next: func(after names.Name) string {
			ask.ByName, ask.AfterName, ask.AfterMember = true, after.Folded, after.Member
			return namesText("name_key, member", ask)
		},
		among: func(members []string) string { return presentText(q.Period, members) }, wanted: true,
	}
	nameless := shownPart{ // members with an entry, if they have no display name
		next: func(after names.Name) string {
			ask.ByName, ask.AfterName, ask.AfterMember = false, "", after.Member
			return idsText("entries", []int64{q.Period}, ask)
		},
		among: namedText,
	}
	if q.After.Folded != "" || q.After.Member == "" { // else the named ones have been found
		if err := s.findShown(ctx, &named, &q, &out); err != nil {
			return out, mysql.Translate(ctx, "find members", err)
		}
		q.After = names.Name{}
	}
	return out, mysql.Translate(ctx, "find members", s.findShown(ctx, &nameless, &q, &out))
}

// shownPart is members in the order of their shown names.
type shownPart struct {
	next   func(after names.Name) string // selects the next shownTogether
	among  func(members []string) string // selects some of these
	wanted bool                          // those are found; otherwise the others
}

// findShown adds the members of a part until there are as many as are asked for, or too many were looked at.
func (s *Store) findShown(ctx context.Context, p *shownPart, q *ShownQuery, out *ShownMembers) error {
	after := q.After
	for range MaxShownSearched / shownTogether {
		if len(out.Members) == q.Limit {
			return nil
		}
		var rows []struct {
			Name   []byte `db:"name_key"` // nil where it is not selected
			Member []byte `db:"member"`
		}
		if err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(p.next(after))); err != nil || len(rows) == 0 {
			return err
		}
		members := make([]string, len(rows))
		for i := range rows {
			members[i] = string(rows[i].Member)
		}
		some, err := s.among(ctx, p.among(members))
		if err != nil {
			return err
		}
		for i, member := range members {
			after = names.Name{Folded: string(rows[i].Name), Member: member}
			if q.Whole && after.Folded != names.Fold(q.Prefix) && (after.Folded != "" || member != q.Prefix) {
				return nil // longer names come after it
			}
			if some[member] == p.wanted {
				if out.Members = append(out.Members, after); len(out.Members) == q.Limit {
					return nil
				}
			}
		}
		if len(rows) < shownTogether {
			return nil
		}
	}
	out.Partial = true
	return nil
}

// among returns the members that a statement selects.
func (s *Store) among(ctx context.Context, text string) (map[string]bool, error) {
	var members []string
	if err := s.db.Pool.SelectContext(ctx, &members, s.db.Limited(text)); err != nil {
		return nil, err
	}
	out := make(map[string]bool, len(members))
	for _, m := range members {
		out[m] = true
	}
	return out, nil
}

// presentText selects the members, of the given ones, with a visible entry in a period.
func presentText(period int64, members []string) string {
	t := (&mysql.Text{}).Str("SELECT member FROM entries FORCE INDEX (PRIMARY) WHERE period_id = ").Int(period).Str(" AND ").Among("member", members)
	return t.Str(" LIMIT ").Int(int64(len(members))).String()
}

// namedText selects the members, of the given ones, with a display name.
func namedText(members []string) string {
	t := (&mysql.Text{}).Str("SELECT member FROM profiles FORCE INDEX (PRIMARY) WHERE ").Among("member", members)
	return t.Str(" AND name_key > '' LIMIT ").Int(int64(len(members))).String()
}
