package store

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard"
)

// PutFriends makes the members given, in any order, the friends of member, and returns how many there are. The same list
// again changes nothing. Errors: a *leaderboard.RuleError, ErrUnavailable.
func (s *Store) PutFriends(ctx context.Context, member string, friends []string) (int, error) {
	return s.changeFriends(ctx, member, friends, func(map[string]bool) []string { return friends })
}

// AddFriends adds to the friends of member and returns how many there are then. Beyond leaderboard.MaxFriends all of it
// is refused.
func (s *Store) AddFriends(ctx context.Context, member string, friends []string) (int, error) {
	return s.changeFriends(ctx, member, friends, func(present map[string]bool) []string {
		all := maps.Clone(present)
		for _, f := range friends {
			all[f] = true
		}
		return slices.Collect(maps.Keys(all))
	})
}

// changeFriends writes the difference between the friends present and those wanted, under the lock of the list.
func (s *Store) changeFriends(ctx context.Context, member string, given []string, wanted func(present map[string]bool) []string) (n int, err error) {
	if broken := leaderboard.CheckFriends(member, given); broken != nil {
		return 0, wrap("friends", broken)
	}
	err = s.repeat(ctx, func(tx *sqlx.Tx) error {
		if err := s.lockFriends(ctx, tx, member); err != nil {
			return err
		}
		list, err := friendsBehind(ctx, tx, selectFriends, member, "", leaderboard.MaxFriends)
		if err != nil {
			return err
		}
		gone := make(map[string]bool, len(list))
		for _, f := range list {
			gone[f] = true
		}
		next := wanted(gone)
		if broken := leaderboard.CheckFriendCount(len(next)); broken != nil {
			return broken
		}
		var added []string
		for _, f := range next {
			if !gone[f] {
				added = append(added, f)
			}
			delete(gone, f)
		}
		n = len(next)
		return writeFriends(ctx, tx, member, added, slices.Collect(maps.Keys(gone)))
	})
	return n, translate(ctx, "friends", err)
}

// lockFriends keeps others from changing a member's list until the transaction ends.
func (s *Store) lockFriends(ctx context.Context, tx *sqlx.Tx, member string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO friend_lists (member, updated_at) VALUES (?, "+s.sysdate()+")"+
		" ON DUPLICATE KEY UPDATE updated_at = VALUES(updated_at)", []byte(member))
	return err
}

func writeFriends(ctx context.Context, tx *sqlx.Tx, member string, added, gone []string) error {
	slices.Sort(added) // in the order of the key, so that two who write never wait for each other in a circle
	slices.Sort(gone)
	t := &text{}
	for chunk := range slices.Chunk(gone, upsertRows) {
		t.reset()
		t.str("DELETE FROM friends WHERE member = ").hex(member).str(" AND friend IN (").hexes(chunk).str(")")
		if _, err := tx.ExecContext(ctx, t.String()); err != nil {
			return err
		}
	}
	for chunk := range slices.Chunk(added, upsertRows) {
		t.reset()
		t.str("INSERT INTO friends (member, friend) VALUES ")
		for i, f := range chunk {
			t.comma(i).str("(").hex(member).str(",").hex(f).str(")")
		}
		if _, err := tx.ExecContext(ctx, t.String()); err != nil {
			return err
		}
	}
	return nil
}

// RemoveFriend takes one friend off the list of member; nothing happens when it is not on it.
func (s *Store) RemoveFriend(ctx context.Context, member, friend string) error {
	err := s.repeat(ctx, func(tx *sqlx.Tx) error {
		if err := s.lockFriends(ctx, tx, member); err != nil {
			return err
		}
		return writeFriends(ctx, tx, member, nil, []string{friend})
	})
	return translate(ctx, "remove friend", err)
}

const selectFriends = "SELECT friend FROM friends WHERE member = ? AND friend > ? ORDER BY friend LIMIT ?"

// Friends lists the friends of member in byte order, behind the one given ("" for the first), at most limit.
func (s *Store) Friends(ctx context.Context, member, after string, limit int) ([]string, error) {
	list, err := friendsBehind(ctx, s.db, s.limited(selectFriends), member, after, limit)
	return list, translate(ctx, "friends", err)
}

func friendsBehind(ctx context.Context, q sqlx.QueryerContext, query, member, after string, limit int) ([]string, error) {
	list := []string{}
	return list, sqlx.SelectContext(ctx, q, &list, query, []byte(member), []byte(after), max(0, limit))
}

// FriendsOf are the friends of each of the members that have any, all of them in byte order: one statement.
func (s *Store) FriendsOf(ctx context.Context, members []string) (map[string][]string, error) {
	lists := make(map[string][]string, len(members))
	if len(members) == 0 {
		return lists, nil
	}
	rows, err := s.db.QueryContext(ctx, s.limited(friendsOf(members)))
	if err != nil {
		return nil, translate(ctx, "friends", err)
	}
	defer rows.Close()
	for rows.Next() {
		var member, friend string
		if err := rows.Scan(&member, &friend); err != nil {
			return nil, translate(ctx, "friends", err)
		}
		lists[member] = append(lists[member], friend)
	}
	return lists, translate(ctx, "friends", rows.Err())
}

// FriendVersions says when the lists of members were last changed; who never had one is left out. A list is the same as
// long as its version is.
func (s *Store) FriendVersions(ctx context.Context, members []string) (map[string]leaderboard.Micros, error) {
	versions := make(map[string]leaderboard.Micros, len(members))
	if len(members) == 0 {
		return versions, nil
	}
	var rows []struct {
		Member  []byte    `db:"member"`
		Updated time.Time `db:"updated_at"`
	}
	if err := s.db.SelectContext(ctx, &rows, s.limited(friendVersions(members))); err != nil {
		return nil, translate(ctx, "friends", err)
	}
	for _, r := range rows {
		versions[string(r.Member)] = micros(r.Updated)
	}
	return versions, nil
}

func friendVersions(members []string) string {
	t := (&text{}).str("SELECT member, updated_at FROM friend_lists FORCE INDEX (PRIMARY) WHERE ").among("member", members)
	return t.str(" LIMIT ").int(int64(len(members))).String()
}

// unfriend takes a member off the lists of others, purgeRows of them in one transaction, and says whether there were more.
func (s *Store) unfriend(ctx context.Context, friend []byte) (more bool, err error) {
	err = s.repeat(ctx, func(tx *sqlx.Tx) error {
		var members []string
		const fans = "SELECT member FROM friends WHERE friend = ? ORDER BY member LIMIT ?"
		if err := tx.SelectContext(ctx, &members, fans, friend, purgeRows); err != nil || len(members) == 0 {
			more = false
			return err
		}
		more = len(members) == purgeRows
		t := (&text{}).str("UPDATE friend_lists SET updated_at = ").str(s.sysdate()).str(" WHERE ").among("member", members)
		if _, err := tx.ExecContext(ctx, t.String()); err != nil {
			return err
		}
		t = (&text{}).str("DELETE FROM friends WHERE friend = ").hex(string(friend)).str(" AND ").among("member", members)
		_, err := tx.ExecContext(ctx, t.String())
		return err
	})
	return more, err
}

func friendsOf(members []string) string {
	t := (&text{}).str("SELECT member, friend FROM friends FORCE INDEX (PRIMARY) WHERE ").among("member", members)
	return t.str(" ORDER BY member, friend LIMIT ").int(int64(len(members)) * leaderboard.MaxFriends).String()
}
