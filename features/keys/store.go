package keys

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/audit"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// keyRow is a row of api_keys, with the one of sessions for a person who signed in.
type keyRow struct {
	ID            []byte              `db:"id"`
	Name          []byte              `db:"name"`
	Scope         []byte              `db:"scope"`
	Boards        []byte              `db:"boards"`
	Requests      int64               `db:"requests_per_second"`
	Rows          int64               `db:"rows_per_second"`
	Hash          leaderboard.KeyHash `db:"secret_hash"`
	Previous      leaderboard.KeyHash `db:"previous_hash"`
	PreviousUntil sql.NullTime        `db:"previous_ends_at"`
	Expires       sql.NullTime        `db:"expires_at"`
	Revoked       sql.NullTime        `db:"revoked_at"`
	Used          sql.NullTime        `db:"last_used_at"`
	Created       time.Time           `db:"created_at"`
	Updated       time.Time           `db:"updated_at"`
	Person        []byte              `db:"person"`
	Role          []byte              `db:"role"`
}

const (
	keyColumns = "id, name, scope, boards, requests_per_second, rows_per_second, secret_hash, previous_hash, previous_ends_at," +
		" k.expires_at, revoked_at, last_used_at, created_at, updated_at, person, role"
	keysWithPeople = " FROM api_keys k LEFT JOIN sessions s ON s.key_id = k.id WHERE "
)

func (r *keyRow) key() (leaderboard.HashedKey, error) {
	k := leaderboard.HashedKey{Hash: r.Hash, Previous: r.Previous, Key: leaderboard.Key{
		ID: string(r.ID), Name: string(r.Name), Scope: leaderboard.Scope(r.Scope),
		Quota:       leaderboard.Quota{RequestsPerSecond: r.Requests, RowsPerSecond: r.Rows},
		CreatedTime: leaderboard.MicrosOf(r.Created), UpdatedTime: leaderboard.MicrosOf(r.Updated),
		ExpiresAt: microsOrNone(r.Expires), RevokedAt: microsOrNone(r.Revoked), LastUsed: microsOrNone(r.Used), PreviousUntil: microsOrNone(r.PreviousUntil),
		Person: string(r.Person), Role: string(r.Role),
	}}
	if err := json.Unmarshal(r.Boards, &k.Boards); err != nil {
		return k, fmt.Errorf("boards of key %s: %w", k.ID, err)
	}
	return k, nil
}

func microsOrNone(t sql.NullTime) leaderboard.Micros {
	if !t.Valid {
		return 0
	}
	return leaderboard.MicrosOf(t.Time)
}

func timeOrNull(m leaderboard.Micros) sql.NullTime {
	return sql.NullTime{Time: m.Time(), Valid: m != 0}
}

// Store is the API keys in the database. All methods may be called concurrently.
type Store struct {
	db *mysql.DB
	// renew lets this process read the keys again after a change, which is then valid here when it returns; nil: the
	// process holds no keys. Elsewhere, and here when it fails, the change is known within a second.
	renew func(context.Context) error
}

// NewStore returns the API keys of a database, for tools.
func NewStore(db *mysql.DB) *Store { return &Store{db: db} }

// CreateKey adds an API key under its ID, whose secret has a hash, and returns the stored key. Errors: a
// *leaderboard.RuleError, ErrUnavailable.
func (s *Store) CreateKey(ctx context.Context, k leaderboard.Key, hash leaderboard.KeyHash) (leaderboard.Key, error) {
	if broken := k.Check(); broken != nil {
		return k, mysql.Wrap("create key", broken)
	}
	action := leaderboard.AuditActionKeyCreate
	if k.Person != "" {
		action = leaderboard.AuditActionSessionBegin
	}
	return s.writeKey(ctx, "create key", action, k.ID, func(tx *sqlx.Tx) error {
		boards, err := boardsOfKey(&k)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO api_keys (id, name, scope, boards, requests_per_second, rows_per_second, secret_hash, expires_at, created_at, updated_at)"+
			" VALUES (?, ?, ?, ?, ?, ?, ?, ?, "+s.db.Now()+", "+s.db.Now()+")",
			[]byte(k.ID), []byte(k.Name), []byte(k.Scope), boards, k.Quota.RequestsPerSecond, k.Quota.RowsPerSecond, hash, timeOrNull(k.ExpiresAt))
		if err != nil || k.Person == "" {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO sessions (key_id, person, role, expires_at) VALUES (?, ?, ?, ?)", []byte(k.ID), []byte(k.Person), []byte(k.Role), k.ExpiresAt.Time())
		return err
	})
}

func boardsOfKey(k *leaderboard.Key) (string, error) {
	boards, err := json.Marshal(slices.Concat([]string{}, k.Boards)) // not null
	return string(boards), err
}

// ChangeKey changes an API key and returns its new state. Errors: ErrKeyNotFound, ErrKeyRevoked, a *leaderboard.RuleError,
// ErrUnavailable.
func (s *Store) ChangeKey(ctx context.Context, id string, change leaderboard.KeyChange) (leaderboard.Key, error) {
	return s.writeKey(ctx, "change key", leaderboard.AuditActionKeyUpdate, id, func(tx *sqlx.Tx) error {
		old, err := lockToChange(ctx, tx, id)
		if err != nil {
			return err
		}
		k, err := old.With(change)
		if err != nil {
			return err
		}
		boards, err := boardsOfKey(&k)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE api_keys SET name = ?, scope = ?, boards = ?, requests_per_second = ?, rows_per_second = ?, expires_at = ?, updated_at = "+
			s.db.Now()+" WHERE id = ?", []byte(k.Name), []byte(k.Scope), boards, k.Quota.RequestsPerSecond, k.Quota.RowsPerSecond, timeOrNull(k.ExpiresAt), []byte(id))
		return err
	})
}

// RotateKey gives an API key another secret, given as a hash. For the time of the overlap the old secret is valid as well.
// Errors: ErrKeyNotFound, ErrKeyRevoked, ErrUnavailable; ErrKeyOverlap when two are valid already: without an overlap both end.
func (s *Store) RotateKey(ctx context.Context, id string, hash leaderboard.KeyHash, overlap time.Duration) (leaderboard.Key, error) {
	return s.writeKey(ctx, "rotate key", leaderboard.AuditActionKeyRotate, id, func(tx *sqlx.Tx) error {
		if _, err := lockToChange(ctx, tx, id); err != nil {
			return err
		}
		// Assignments are carried out from left to right.
		between := overlap.Microseconds()
		result, err := tx.ExecContext(ctx, "UPDATE api_keys SET previous_hash = IF(? > 0, secret_hash, NULL), previous_ends_at = IF(? > 0, "+s.db.Now()+" + INTERVAL ? MICROSECOND, NULL),"+
			" secret_hash = ?, updated_at = "+s.db.Now()+" WHERE id = ? AND (? = 0 OR previous_ends_at IS NULL OR previous_ends_at <= "+s.db.Now()+")",
			between, between, between, hash, []byte(id), between)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return cmp.Or[error](err, leaderboard.ErrKeyOverlap)
		}
		return nil
	})
}

// RevokeKey ends an API key for good. A repetition changes nothing. Errors: ErrKeyNotFound, ErrUnavailable.
func (s *Store) RevokeKey(ctx context.Context, id string) (leaderboard.Key, error) {
	return s.writeKey(ctx, "revoke key", leaderboard.AuditActionKeyRevoke, id, func(tx *sqlx.Tx) error {
		_, err := lockKey(ctx, tx, id)
		if errors.Is(err, leaderboard.ErrKeyRevoked) {
			return nil
		}
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE api_keys SET revoked_at = "+s.db.Now()+", updated_at = "+s.db.Now()+" WHERE id = ?", []byte(id))
		return err
	})
}

// lockToChange is lockKey for changes that sessions do not allow, see Key.ErrSession.
func lockToChange(ctx context.Context, tx *sqlx.Tx, id string) (leaderboard.Key, error) {
	k, err := lockKey(ctx, tx, id)
	if err == nil {
		err = k.ErrSession()
	}
	return k, err
}

// lockKey locks a key that is to be changed. Errors: ErrKeyNotFound, ErrKeyRevoked.
func lockKey(ctx context.Context, tx *sqlx.Tx, id string) (leaderboard.Key, error) {
	k, err := keyIn(ctx, tx, id, " FOR UPDATE")
	if err == nil && k.RevokedAt != 0 {
		err = leaderboard.ErrKeyRevoked
	}
	return k, err
}

func keyIn(ctx context.Context, q sqlx.QueryerContext, id, how string) (leaderboard.Key, error) {
	var row keyRow
	err := sqlx.GetContext(ctx, q, &row, "SELECT "+keyColumns+keysWithPeople+"id = ?"+how, []byte(id))
	if errors.Is(err, sql.ErrNoRows) {
		err = leaderboard.ErrKeyNotFound
	}
	if err != nil {
		return leaderboard.Key{}, err
	}
	k, err := row.key()
	return k.Key, err
}

// keysVersion is the row of table_versions that all servers watch.
const keysVersion = "api_keys"

// writeKey makes a change of the table of keys in a transaction, and returns the key after it. Changes have an order: each
// first takes the next version, whose row stays locked until the commit. A change that changes nothing is not in the audit.
func (s *Store) writeKey(ctx context.Context, doing string, action leaderboard.AuditAction, id string, change func(*sqlx.Tx) error) (leaderboard.Key, error) {
	var old, k leaderboard.Key
	err := s.db.InTx(ctx, func(tx *sqlx.Tx) (err error) {
		if err := s.db.NextVersion(ctx, tx, keysVersion); err != nil {
			return err
		}
		if old, err = keyIn(ctx, tx, id, ""); err != nil && !errors.Is(err, leaderboard.ErrKeyNotFound) {
			return err
		}
		if err := change(tx); err != nil {
			return err
		}
		if k, err = keyIn(ctx, tx, id, ""); err != nil {
			return err
		}
		if err := k.CheckExpiry(old.ExpiresAt); err != nil {
			return err
		}
		return s.auditKey(ctx, tx, action, &old, &k)
	})
	if err == nil && s.renew != nil && old.ID != "" { // unknown keys are read anyway
		_ = s.renew(ctx)
	}
	return k, mysql.Translate(ctx, doing, err)
}

// keyState is the audit's record of a key, without anything that would allow its use.
type keyState struct {
	ID            string              `json:"id"`
	Name          string              `json:"name"`
	Scope         leaderboard.Scope   `json:"scope"`
	Boards        []string            `json:"boards"`
	ExpiresAt     *leaderboard.Micros `json:"expires_at"`
	Requests      int64               `json:"requests_per_second,omitempty"`
	Rows          int64               `json:"rows_per_second,omitempty"`
	RevokedAt     *leaderboard.Micros `json:"revoked_at,omitempty"`
	Person        string              `json:"person,omitempty"`
	Role          string              `json:"role,omitempty"`
	PreviousUntil *leaderboard.Micros `json:"previous_until,omitempty"`
}

func keyStateOf(k *leaderboard.Key) keyState {
	at := func(m leaderboard.Micros) *leaderboard.Micros {
		if m == 0 {
			return nil
		}
		return &m
	}
	return keyState{
		k.ID, k.Name, k.Scope, slices.Concat([]string{}, k.Boards), at(k.ExpiresAt), k.Quota.RequestsPerSecond, k.Quota.RowsPerSecond,
		at(k.RevokedAt), k.Person, k.Role, at(k.PreviousUntil),
	}
}

// auditKey records a change of a key; for a new key the old one has no ID. A rotation changes no shown member.
func (s *Store) auditKey(ctx context.Context, tx *sqlx.Tx, action leaderboard.AuditAction, old, k *leaderboard.Key) error {
	c := audit.Change{Action: action, After: keyStateOf(k)}
	if old.ID != "" {
		c.Before = keyStateOf(old)
	}
	if action != leaderboard.AuditActionKeyRotate && reflect.DeepEqual(c.Before, c.After) {
		return nil
	}
	_, err := audit.Write(ctx, s.db, tx, c)
	return err
}

// Key returns an API key, also a revoked or expired one. Errors: ErrKeyNotFound, ErrUnavailable.
func (s *Store) Key(ctx context.Context, id string) (leaderboard.Key, error) {
	k, err := keyIn(ctx, s.db.Pool, id, "")
	return k, mysql.Translate(ctx, "key", err)
}

// Keys lists up to limit API keys with an id after the given one, in the order of their ids.
func (s *Store) Keys(ctx context.Context, after string, limit int) ([]leaderboard.Key, error) {
	rows, err := s.keyRows(ctx, "id > ?", after, limit)
	keys := make([]leaderboard.Key, len(rows))
	for i := range rows {
		if err == nil {
			var hashed leaderboard.HashedKey
			hashed, err = rows[i].key()
			keys[i] = hashed.Key
		}
	}
	return keys, err
}

// usableKeys selects the keys that have not ended, by revocation or expiry, or ended less than a day ago.
func usableKeys(now string) string {
	dayAgo := "(" + now + " - INTERVAL 1 DAY)"
	return "id > ? AND (revoked_at IS NULL OR revoked_at > " + dayAgo + ") AND (k.expires_at IS NULL OR k.expires_at > " + dayAgo + ")"
}

// HashedKeys is Keys with the hashes of their secrets, without keys that ended more than a day ago. A row that cannot be
// read is logged and left out, so that all other keys can be used. It implements Source.
func (s *Store) HashedKeys(ctx context.Context, after string, limit int) ([]leaderboard.HashedKey, error) {
	rows, err := s.keyRows(ctx, usableKeys(s.db.Now()), after, limit)
	keys := make([]leaderboard.HashedKey, 0, len(rows))
	for i := range rows {
		key, broken := rows[i].key()
		if broken != nil {
			s.db.Log.ErrorContext(ctx, "an API key cannot be read and is of no use", "key", string(rows[i].ID), "error", broken)
			continue
		}
		keys = append(keys, key)
	}
	return keys, err
}

func (s *Store) keyRows(ctx context.Context, where, after string, limit int) (rows []keyRow, err error) {
	err = s.db.Pool.SelectContext(ctx, &rows, s.db.Limited(selectKeys(where)), []byte(after), max(0, limit))
	return rows, mysql.Translate(ctx, "keys", err)
}

func selectKeys(where string) string {
	return "SELECT " + keyColumns + keysWithPeople + where + " ORDER BY id LIMIT ?"
}

// KeysUsed notes when API keys were last used, unless a later time is noted: at most 500, one statement. It implements
// Source.
func (s *Store) KeysUsed(ctx context.Context, at leaderboard.Micros, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	ids = slices.Sorted(slices.Values(ids)) // rows are locked in one order
	err := mysql.Retry(mysql.Retryable, func() error {
		_, err := s.db.Pool.ExecContext(ctx, keysUsed(at, ids))
		return err
	})
	return mysql.Translate(ctx, "keys used", err)
}

func keysUsed(at leaderboard.Micros, ids []string) string {
	t := (&mysql.Text{}).Str("UPDATE api_keys SET last_used_at = ").Time(at).Str(" WHERE ").Among("id", ids)
	return t.Str(" AND (last_used_at IS NULL OR last_used_at < ").Time(at).Str(")").String()
}
