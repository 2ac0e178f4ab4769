package store

import (
	"context"
	"slices"

	"leaderboard"
	"leaderboard/store/internal/db"
)

// searchedTogether is how many periods one statement searches.
const searchedTogether = 100

// SearchMembers finds members. By name it searches the profiles. By id it finds members that have a profile, are hidden
// somewhere, or have an entry in one of the first leaderboard.MaxSearched open periods, those without an end first. Each
// search reads at most q.Limit rows from the beginning of a range of an index. Errors: ErrUnavailable.
func (s *Store) SearchMembers(ctx context.Context, q leaderboard.MemberQuery) (leaderboard.FoundMembers, error) {
	var out leaderboard.FoundMembers
	var err error
	if q.ByName {
		out, err = s.membersByName(ctx, q)
	} else {
		out, err = s.membersByID(ctx, q)
	}
	return out, db.Translate(ctx, "search members", err)
}

func (s *Store) membersByName(ctx context.Context, q leaderboard.MemberQuery) (out leaderboard.FoundMembers, err error) {
	var rows []profileRow
	if err = s.db.SelectContext(ctx, &rows, s.db.Limited(namesText(q))); err != nil {
		return out, err
	}
	for i := range rows {
		p := rows[i].profile()
		out.Members = append(out.Members, leaderboard.FoundMember{Member: p.Member, Profile: &p})
	}
	return out, nil
}

func namesText(q leaderboard.MemberQuery) string {
	prefix := leaderboard.FoldName(q.Prefix)
	t := (&db.Text{}).Str("SELECT " + profileColumns + " FROM profiles FORCE INDEX (profiles_name) WHERE ")
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
	return (&db.Text{}).Str(" AND " + column + " < ").HexBytes(end).String()
}

func (s *Store) membersByID(ctx context.Context, q leaderboard.MemberQuery) (out leaderboard.FoundMembers, err error) {
	var periods []int64
	if err = s.db.SelectContext(ctx, &periods, s.db.Limited(openPeriods), leaderboard.MaxSearched+1); err != nil {
		return out, err
	}
	if len(periods) > leaderboard.MaxSearched {
		out.Partial, periods = true, periods[:leaderboard.MaxSearched]
	}
	texts := []string{idsText("profiles", nil, q), idsText("hidden_members", nil, q)}
	for part := range slices.Chunk(periods, searchedTogether) {
		texts = append(texts, idsText("entries", part, q))
	}
	var ids []string
	for _, text := range texts {
		var found [][]byte
		if err = s.db.SelectContext(ctx, &found, s.db.Limited(text)); err != nil {
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
	byMember := make(map[string]*leaderboard.Profile, len(profiles))
	for i := range profiles {
		byMember[profiles[i].Member] = &profiles[i]
	}
	for _, id := range ids {
		out.Members = append(out.Members, leaderboard.FoundMember{Member: id, Profile: byMember[id]})
	}
	return out, nil
}

// openPeriods has those without an end first: NULL comes before all times.
const openPeriods = "SELECT id FROM periods FORCE INDEX (periods_end) WHERE state = 'open' ORDER BY ends_at, id LIMIT ?"

// idsText selects the next ids of members from a table; of entries, from each of some periods.
func idsText(table string, periods []int64, q leaderboard.MemberQuery) string {
	limit, t := int64(max(0, q.Limit)), &db.Text{}
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
			part("PRIMARY", (&db.Text{}).Str("period_id = ").Int(id).Str(" AND ").String())
			t.Str(")")
		}
		t.Str(") found ORDER BY member LIMIT ").Int(limit)
	}
	return t.String()
}
