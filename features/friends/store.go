package friends

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/cache"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// Store is the lists of friends of members. All methods may be called concurrently.
type Store struct {
	db   *mysql.DB
	kept *cache.Loader[keptList]
}

// NewStore returns the lists in a database.
func NewStore(db *mysql.DB) *Store {
	s := &Store{db: db}
	s.kept = s.newKept()
	return s
}

// PutFriends makes the members given, in any order, the friends of member, and returns how many there are. The same
// list again changes nothing. Errors: a *leaderboard.RuleError, ErrUnavailable.
func (s *Store) PutFriends(ctx context.Context, member string, friends []string) (int, error) {
	defer s.kept.Forget(member)
	return s.changeFriends(ctx, member, friends, func(map[string]bool) []string { return friends })
}

// AddFriends adds to the friends of member and returns how many there are then. If there would be more than
// leaderboard.MaxFriends it adds none.
func (s *Store) AddFriends(ctx context.Context, member string, friends []string) (int, error) {
	defer s.kept.Forget(member)
	return s.changeFriends(ctx, member, friends, func(present map[string]bool) []string {
		all := maps.Clone(present)
		for _, f := range friends {
			all[f] = true
		}
		return slices.Collect(maps.Keys(all))
	})
}

// changeFriends writes the difference between the present and the wanted friends, under the lock of the list.
func (s *Store) changeFriends(ctx context.Context, member string, given []string, wanted func(present map[string]bool) []string) (n int, err error) {
	if broken := leaderboard.CheckFriends(member, given); broken != nil {
		return 0, mysql.Wrap("friends", broken)
	}
	err = s.db.InTx(ctx, func(tx *sqlx.Tx) error {
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
	return n, mysql.Translate(ctx, "friends", err)
}

// lockFriends locks a member's list until the transaction ends.
func (s *Store) lockFriends(ctx context.Context, tx *sqlx.Tx, member string) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO friend_lists (member, updated_at) VALUES (?, "+s.db.Sysdate()+")"+
		" ON DUPLICATE KEY UPDATE updated_at = VALUES(updated_at)", []byte(member))
	return err
}

func writeFriends(ctx context.Context, tx *sqlx.Tx, member string, added, gone []string) error {
	slices.Sort(added) // in the order of the key, so that two writers never wait for each other in a circle
	slices.Sort(gone)
	t := &mysql.Text{}
	for chunk := range slices.Chunk(gone, mysql.MaxRows) {
		t.Reset()
		t.Str("DELETE FROM friends WHERE member = ").Hex(member).Str(" AND friend IN (").Hexes(chunk).Str(")")
		if _, err := tx.ExecContext(ctx, t.String()); err != nil {
			return err
		}
	}
	for chunk := range slices.Chunk(added, mysql.MaxRows) {
		t.Reset()
		t.Str("INSERT INTO friends (member, friend) VALUES ")
		for i, f := range chunk {
			t.Comma(i).Str("(").Hex(member).Str(",").Hex(f).Str(")")
		}
		if _, err := tx.ExecContext(ctx, t.String()); err != nil {
			return err
		}
	}
	return nil
}

// RemoveFriend takes a friend off the list of member, if it is on it.
func (s *Store) RemoveFriend(ctx context.Context, member, friend string) error {
	defer s.kept.Forget(member)
	err := s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		if err := s.lockFriends(ctx, tx, member); err != nil {
			return err
		}
		return writeFriends(ctx, tx, member, nil, []string{friend})
	})
	return mysql.Translate(ctx, "remove friend", err)
}

// selectFans lists the members on whose lists a member is.
const selectFans = "SELECT member FROM friends FORCE INDEX (friends_of) WHERE friend = ? AND member > ? ORDER BY member LIMIT ?"

const selectFriends = "SELECT friend FROM friends WHERE member = ? AND friend > ? ORDER BY friend LIMIT ?"

// Friends lists the friends of member in byte order, after the one given ("" for the first), at most limit.
func (s *Store) Friends(ctx context.Context, member, after string, limit int) ([]string, error) {
	list, err := friendsBehind(ctx, s.db.Pool, s.db.Limited(selectFriends), member, after, limit)
	return list, mysql.Translate(ctx, "friends", err)
}

func friendsBehind(ctx context.Context, q sqlx.QueryerContext, query, member, after string, limit int) ([]string, error) {
	list := []string{}
	return list, sqlx.SelectContext(ctx, q, &list, query, []byte(member), []byte(after), max(0, limit))
}

// lists returns the friends of each of the members that have any, all of them in byte order: one statement.
func (s *Store) lists(ctx context.Context, members []string) (map[string][]string, error) {
	lists := make(map[string][]string, len(members))
	if len(members) == 0 {
		return lists, nil
	}
	rows, err := s.db.Pool.QueryContext(ctx, s.db.Limited(friendsOf(members)))
	if err != nil {
		return nil, mysql.Translate(ctx, "friends", err)
	}
	defer rows.Close()
	for rows.Next() {
		var member, friend string
		if err := rows.Scan(&member, &friend); err != nil {
			return nil, mysql.Translate(ctx, "friends", err)
		}
		lists[member] = append(lists[member], friend)
	}
	return lists, mysql.Translate(ctx, "friends", rows.Err())
}

// versions returns when the lists of members were last changed, without members that never had a list. A list has not
// changed while its version is the same.
func (s *Store) versions(ctx context.Context, members []string) (map[string]leaderboard.Micros, error) {
	versions := make(map[string]leaderboard.Micros, len(members))
	if len(members) == 0 {
		return versions, nil
	}
	var rows []struct {
		Member  []byte    `db:"member"`
		Updated time.Time `db:"updated_at"`
	}
	if err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(friendVersions(members))); err != nil {
		return nil, mysql.Translate(ctx, "friends", err)
	}
	for _, r := range rows {
		versions[string(r.Member)] = leaderboard.MicrosOf(r.Updated)
	}
	return versions, nil
}

func friendVersions(members []string) string {
	t := (&mysql.Text{}).Str("SELECT member, updated_at FROM friend_lists FORCE INDEX (PRIMARY) WHERE ").Among("member", members)
	return t.Str(" LIMIT ").Int(int64(len(members))).String()
}

// unfriend takes a member off the lists of others, store.SweepRows of them in one transaction, and reports whether there may be
// more.
func (s *Store) unfriend(ctx context.Context, friend []byte) (more bool, err error) {
	err = s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		var members []string
		const fans = "SELECT member FROM friends WHERE friend = ? ORDER BY member LIMIT ?"
		if err := tx.SelectContext(ctx, &members, fans, friend, store.SweepRows); err != nil || len(members) == 0 {
			more = false
			return err
		}
		more = len(members) == store.SweepRows
		t := (&mysql.Text{}).Str("UPDATE friend_lists SET updated_at = ").Str(s.db.Sysdate()).Str(" WHERE ").Among("member", members)
		if _, err := tx.ExecContext(ctx, t.String()); err != nil {
			return err
		}
		t = (&mysql.Text{}).Str("DELETE FROM friends WHERE friend = ").Hex(string(friend)).Str(" AND ").Among("member", members)
		_, err := tx.ExecContext(ctx, t.String())
		return err
	})
	return more, err
}

func friendsOf(members []string) string {
	t := (&mysql.Text{}).Str("SELECT member, friend FROM friends FORCE INDEX (PRIMARY) WHERE ").Among("member", members)
	return t.Str(" ORDER BY member, friend LIMIT ").Int(int64(len(members)) * leaderboard.MaxFriends).String()
}

// data lists the friends of a member.
func (s *Store) data(ctx context.Context, member string, tell func(any) error) error {
	return store.InPages(func(after string) ([]string, error) { return s.Friends(ctx, member, after, store.DataPage) }, func(friend *string) (string, error) {
		return *friend, tell(*friend)
	})
}

// fanData lists the members on whose lists a member is.
func (s *Store) fanData(ctx context.Context, member string, tell func(any) error) error {
	fans := func(after string) ([]string, error) {
		list, err := friendsBehind(ctx, s.db.Pool, s.db.Limited(selectFans), member, after, store.DataPage)
		return list, mysql.Translate(ctx, "member data", err)
	}
	return store.InPages(fans, func(fan *string) (string, error) {
		return *fan, tell(*fan)
	})
}

// forget deletes the list of a member who is erased, and takes the member off the lists of others.
func (s *Store) forget(ctx context.Context, member, _ []byte, steps store.Steps) error {
	defer s.kept.Forget(string(member))
	err := steps(ctx, "DELETE FROM friends WHERE member = ? ORDER BY friend LIMIT ?", member)
	if err == nil {
		err = steps(ctx, "DELETE FROM friend_lists WHERE member = ? LIMIT ?", member)
	}
	for more := true; more && err == nil; {
		more, err = s.unfriend(ctx, member)
	}
	return err
}
