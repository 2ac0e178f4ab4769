package people

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/cache"
	"leaderboard/internal/audit"
	"leaderboard/internal/mysql"
	"leaderboard/internal/names"
	"leaderboard/leaderboard"
	"leaderboard/store"
)

// profileRow is a row of profiles.
type profileRow struct {
	Member      []byte    `db:"member"`
	DisplayName []byte    `db:"display_name"`
	AvatarURL   []byte    `db:"avatar_url"`
	Attributes  []byte    `db:"attributes"`
	ResetNames  []byte    `db:"reset_names"`
	Updated     time.Time `db:"updated_at"`
}

const profileColumns = "member, display_name, avatar_url, attributes, reset_names, updated_at"

// nameKey returns the column by which names are searched.
func nameKey(name string) []byte { return []byte(names.Fold(name)) }

func (r *profileRow) profile() Profile {
	return Profile{
		Member: string(r.Member), DisplayName: string(r.DisplayName), AvatarURL: string(r.AvatarURL),
		Attributes: Attributes(r.Attributes), ResetNames: string(r.ResetNames), UpdatedTime: leaderboard.MicrosOf(r.Updated),
	}
}

// Store is the profiles of members, and finds members. All methods may be called concurrently.
type Store struct {
	db       *mysql.DB
	byPeople bool // the audit has changes by admins and people alone, see Settings.AuditProfiles
	// alone runs a question to the database in a separate slot.
	alone func(ctx context.Context, ask func(context.Context) error) error
	kept  *cache.Loader[*Profile]
}

// NewStore returns the profiles in a database.
func NewStore(db *mysql.DB, alone func(ctx context.Context, ask func(context.Context) error) error, settings *Settings) *Store {
	s := &Store{db: db, byPeople: settings.AuditProfiles == "people", alone: alone}
	s.kept = cache.NewLoader(s.fetch, sizeOfProfile, cache.LoaderOptions{})
	return s
}

// PutProfile sets the whole profile of a member and returns the stored profile; created reports whether the member had no
// profile. The same profile again changes nothing, its updated_time, which the database gives, included. Errors: a
// *leaderboard.RuleError, ErrUnavailable.
func (s *Store) PutProfile(ctx context.Context, p Profile) (out Profile, created bool, err error) {
	defer s.kept.Forget(p.Member) // also when the outcome is unknown
	if broken := p.Check(); broken != nil {
		return p, false, mysql.Wrap("put profile", broken)
	}
	if p.Attributes == "" {
		p.Attributes = NoAttributes
	}
	out, created, err = s.changeProfile(ctx, p.Member, func(old Profile) (Profile, error) {
		old.DisplayName, old.AvatarURL, old.Attributes = p.DisplayName, p.AvatarURL, p.Attributes
		return old, nil
	})
	return out, created, mysql.Translate(ctx, "put profile", err)
}

// Introduce gives a member a name and attributes, which are a JSON object. The demo fills boards with it.
func (s *Store) Introduce(ctx context.Context, member, name string, attributes []byte) error {
	parsed, err := ParseAttributes(attributes)
	if err == nil {
		_, _, err = s.PutProfile(ctx, Profile{Member: member, DisplayName: name, Attributes: parsed})
	}
	return err
}

// PatchProfile changes a part of a member's profile, and returns the stored profile; created reports whether the member had no
// profile. It is atomic: two changes of different parts at the same time are both kept. A change that changes nothing leaves the
// updated_time too. Errors: a *leaderboard.RuleError, ErrUnavailable.
func (s *Store) PatchProfile(ctx context.Context, member string, change ProfilePatch) (out Profile, created bool, err error) {
	defer s.kept.Forget(member)
	if _, err := (Profile{Member: member}).Patch(change); err != nil {
		return out, false, mysql.Wrap("patch profile", err) // without a transaction
	}
	out, created, err = s.changeProfile(ctx, member, func(old Profile) (Profile, error) { return old.Patch(change) })
	return out, created, mysql.Translate(ctx, "patch profile", err)
}

// ResetName takes a member's display name away, and returns the stored profile. A key of scope write cannot give this name, in
// whatever case, to the member again, but it can give another name. A member without a name stays unchanged. Errors: a
// *leaderboard.RuleError, ErrProfileNotFound, ErrUnavailable.
func (s *Store) ResetName(ctx context.Context, r NameReset) (out Profile, err error) {
	defer s.kept.Forget(r.Member)
	if broken := r.Check(); broken != nil {
		return out, mysql.Wrap("reset name", broken)
	}
	err = s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		old, err := lockProfile(ctx, tx, r.Member)
		if out = old; err != nil || old.DisplayName == "" {
			return err
		}
		none := ""
		err = s.auditProfile(ctx, tx, r.Member, leaderboard.AuditActionProfileReset,
			&profileState{DisplayName: &old.DisplayName}, &profileState{DisplayName: &none, Reason: r.Reason, Actor: r.Actor})
		if err != nil {
			return err
		}
		out, err = s.saveProfile(ctx, tx, old.ResetName())
		return err
	})
	return out, mysql.Translate(ctx, "reset name", err)
}

// changeProfile changes a member's profile, or an empty one, by a function, and stores the result with its record in the audit.
func (s *Store) changeProfile(ctx context.Context, member string, change func(old Profile) (Profile, error)) (out Profile, created bool, err error) {
	caller := leaderboard.CallerOf(ctx)
	err = s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		// A request that comes at the same time waits for this row.
		begin := "INSERT INTO profiles (member, display_name, avatar_url, attributes, updated_at) VALUES (?, '', '', ?, " + s.db.Sysdate() + ") ON DUPLICATE KEY UPDATE member = VALUES(member)"
		result, err := tx.ExecContext(ctx, begin, []byte(member), []byte(NoAttributes))
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		if err != nil {
			return err
		}
		created = n == 1
		old, err := lockProfile(ctx, tx, member)
		if err != nil {
			return err
		}
		if out, err = change(old); err == nil {
			out, err = out.CheckName(caller.Admin)
		}
		if err != nil || out == old && !created {
			return err
		}
		if !s.byPeople || caller.Admin || caller.Session != "" {
			if err := s.auditChange(ctx, tx, &old, &out, created); err != nil {
				return err
			}
		}
		if out != old {
			out, err = s.saveProfile(ctx, tx, out)
		}
		return err
	})
	return out, created, err
}

const lockedProfile = "SELECT " + profileColumns + " FROM profiles WHERE member = ? FOR UPDATE"

// lockProfile reads the profile of a member, which nobody else changes before the transaction has ended.
func lockProfile(ctx context.Context, tx *sqlx.Tx, member string) (Profile, error) {
	var row profileRow
	err := tx.GetContext(ctx, &row, lockedProfile, []byte(member))
	if errors.Is(err, sql.ErrNoRows) {
		err = leaderboard.ErrProfileNotFound
	}
	return row.profile(), err
}

// saveProfile changes the row of a profile and returns the stored profile.
func (s *Store) saveProfile(ctx context.Context, tx *sqlx.Tx, p Profile) (Profile, error) {
	set := "UPDATE profiles SET display_name = ?, name_key = ?, avatar_url = ?, attributes = ?, reset_names = ?, updated_at = " + s.db.Sysdate() + " WHERE member = ?"
	_, err := tx.ExecContext(ctx, set, []byte(p.DisplayName), nameKey(p.DisplayName), []byte(p.AvatarURL), []byte(p.Attributes), []byte(p.ResetNames), []byte(p.Member))
	if err != nil {
		return p, err
	}
	return lockProfile(ctx, tx, p.Member)
}

// profileState is a profile in the audit: only the changed parts and attributes. It is deleted when the member is erased.
type profileState struct {
	DisplayName *string                    `json:"display_name,omitempty"`
	AvatarURL   *string                    `json:"avatar_url,omitempty"`
	Attributes  map[string]json.RawMessage `json:"attributes,omitzero"`
	Reason      string                     `json:"reason,omitempty"` // for which the name was taken away
	Actor       string                     `json:"actor,omitempty"`
}

// auditChange records a change of a profile.
func (s *Store) auditChange(ctx context.Context, tx *sqlx.Tx, old, changed *Profile, created bool) error {
	before, after, err := profileStates(old, changed)
	if err != nil {
		return err
	}
	if created {
		return s.auditProfile(ctx, tx, changed.Member, leaderboard.AuditActionProfileCreate, nil, &after)
	}
	return s.auditProfile(ctx, tx, changed.Member, leaderboard.AuditActionProfileUpdate, &before, &after)
}

// auditProfile records an action on a profile; before is nil for a new profile.
func (s *Store) auditProfile(ctx context.Context, tx *sqlx.Tx, member string, action leaderboard.AuditAction, before, after *profileState) error {
	c := audit.Change{Action: action, Member: member, After: after}
	if before != nil {
		c.Before = before
	}
	_, err := audit.Write(ctx, s.db, tx, c)
	return err
}

// profileStates returns the parts and attributes in which two profiles differ, before and after.
func profileStates(old, changed *Profile) (before, after profileState, err error) {
	if old.DisplayName != changed.DisplayName {
		before.DisplayName, after.DisplayName = &old.DisplayName, &changed.DisplayName
	}
	if old.AvatarURL != changed.AvatarURL {
		before.AvatarURL, after.AvatarURL = &old.AvatarURL, &changed.AvatarURL
	}
	if old.Attributes == changed.Attributes {
		return before, after, nil
	}
	if err := errors.Join(json.Unmarshal([]byte(old.Attributes), &before.Attributes), json.Unmarshal([]byte(changed.Attributes), &after.Attributes)); err != nil {
		return before, after, fmt.Errorf("attributes: %w", err)
	}
	for name, value := range before.Attributes {
		if bytes.Equal(value, after.Attributes[name]) {
			delete(before.Attributes, name)
			delete(after.Attributes, name)
		}
	}
	return before, after, nil
}

// Profile returns the profile of a member, or ErrProfileNotFound.
func (s *Store) Profile(ctx context.Context, member string) (Profile, error) {
	found, err := s.Profiles(ctx, []string{member})
	if err == nil && len(found) == 0 {
		err = mysql.Wrap("profile", leaderboard.ErrProfileNotFound)
	}
	if err != nil {
		return Profile{}, err
	}
	return found[0], nil
}

// Profiles returns the profiles of members, in no particular order, with one statement. A member without a profile is left out.
func (s *Store) Profiles(ctx context.Context, members []string) ([]Profile, error) {
	if len(members) == 0 {
		return nil, nil
	}
	var rows []profileRow
	if err := s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(profilesOf(members))); err != nil {
		return nil, mysql.Translate(ctx, "profiles", err)
	}
	out := make([]Profile, len(rows))
	for i := range rows {
		out[i] = rows[i].profile()
	}
	return out, nil
}

// fetch reads profiles. They are kept for a while; a change through this process drops one.
func (s *Store) fetch(ctx context.Context, members []string, _ map[string]*Profile) (map[string]*Profile, error) {
	found, err := s.Profiles(ctx, members)
	byMember := make(map[string]*Profile, len(found))
	for i := range found {
		byMember[found[i].Member] = &found[i]
	}
	return byMember, err
}

func sizeOfProfile(p *Profile) int {
	if p == nil {
		return 0
	}
	return len(p.DisplayName) + len(p.AvatarURL) + len(p.Attributes)
}

// ProfilesOf implements Loader.
func (s *Store) ProfilesOf(ctx context.Context, members []string) ([]*Profile, error) {
	return s.kept.Of(ctx, members)
}

func profilesOf(members []string) string {
	t := (&mysql.Text{}).Str("SELECT "+profileColumns+" FROM profiles FORCE INDEX (PRIMARY) WHERE ").Among("member", members)
	return t.Str(" LIMIT ").Int(int64(len(members))).String()
}

// data passes the profile of a member to a function, for the export of the member's data.
func (s *Store) data(ctx context.Context, member string, tell func(any) error) error {
	p, err := s.Profile(ctx, member)
	if errors.Is(err, leaderboard.ErrProfileNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return tell(showProfile(&p))
}

// forget deletes the profile of a member who is erased.
func (s *Store) forget(ctx context.Context, member, _ []byte, steps store.Steps) error {
	defer s.kept.Forget(string(member))
	return steps(ctx, "DELETE FROM profiles WHERE member = ? LIMIT ?", member)
}
