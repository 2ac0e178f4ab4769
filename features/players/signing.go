package players

import (
	"context"
	"crypto/rand"
	"database/sql"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/api"
	"leaderboard/internal/audit"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// signingRow is a row of signing_keys.
type signingRow struct {
	ID      []byte       `db:"id"`
	Seed    []byte       `db:"seed"`
	Created time.Time    `db:"created_at"`
	Ends    sql.NullTime `db:"ends_at"`
	Old     bool         `db:"old"` // it no longer signs when a new one is needed
}

func (r *signingRow) key() SigningKey {
	return SigningKey{ID: string(r.ID), Seed: r.Seed, CreatedTime: leaderboard.MicrosOf(r.Created), EndsAt: microsOrNone(r.Ends)}
}

// maxSigningKeys is how many keys may be valid at once: rotations with an overlap beyond it are refused.
const maxSigningKeys = 16

// signingSeed is how many random bytes a key is made of.
const signingSeed = 32

// selectSigning reads the signing keys whose tokens may be taken, the newest last, and whether each is too old to sign.
func (s *Store) selectSigning() string {
	age := " - INTERVAL " + microseconds(signingKeyAge) + " MICROSECOND"
	return "SELECT id, seed, created_at, ends_at, created_at < " + s.db.Now() + age + " AS old FROM signing_keys WHERE ends_at IS NULL OR ends_at > " + s.db.Now() + " ORDER BY created_at, id LIMIT ?"
}

// SigningKeys returns the keys that sign tokens of this service and the keys whose tokens are still valid, the newest last.
func (s *Store) SigningKeys(ctx context.Context) ([]SigningKey, error) {
	keys, _, err := s.signingIn(ctx, s.db.Pool)
	return keys, mysql.Translate(ctx, "signing keys", err)
}

// signingIn returns the keys, and whether no key may sign.
func (s *Store) signingIn(ctx context.Context, q sqlx.QueryerContext) (keys []SigningKey, wanted bool, err error) {
	var rows []signingRow
	wanted = true
	err = sqlx.SelectContext(ctx, q, &rows, s.db.Limited(s.selectSigning()), 2*maxSigningKeys)
	for i := range rows {
		keys = append(keys, rows[i].key())
		wanted = wanted && (rows[i].Ends.Valid || rows[i].Old)
	}
	return keys, wanted, err
}

// RenewSigning makes a key for new tokens, unless a young enough key exists.
func (s *Store) RenewSigning(ctx context.Context) error {
	err := s.changeTokens(ctx, func(tx *sqlx.Tx) error {
		_, wanted, err := s.signingIn(ctx, tx)
		if err == nil && !wanted {
			err = errNothing
		}
		if err != nil {
			return err
		}
		return s.rotateSigning(ctx, tx, api.SigningOverlap)
	})
	return mysql.Translate(ctx, "renew signing key", err)
}

// RotateSigning makes another key for new tokens. Tokens of earlier keys stay valid for the time of the overlap; 0: they
// all end. ErrKeyOverlap when too many keys overlap already.
func (s *Store) RotateSigning(ctx context.Context, overlap time.Duration) error {
	err := s.changeHere(ctx, func(tx *sqlx.Tx) error {
		keys, _, err := s.signingIn(ctx, tx)
		if err == nil && overlap > 0 && len(keys) >= maxSigningKeys {
			err = leaderboard.ErrKeyOverlap
		}
		if err != nil {
			return err
		}
		return s.rotateSigning(ctx, tx, overlap)
	})
	return mysql.Translate(ctx, "rotate signing key", err)
}

// rotateSigning also deletes what ended.
func (s *Store) rotateSigning(ctx context.Context, tx *sqlx.Tx, overlap time.Duration) error {
	end := s.db.Now() + " + INTERVAL " + microseconds(overlap) + " MICROSECOND"
	if _, err := tx.ExecContext(ctx, "UPDATE signing_keys SET ends_at = "+end+" WHERE ends_at IS NULL OR ends_at > "+end); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "DELETE FROM signing_keys WHERE ends_at <= "+s.db.Now()); err != nil {
		return err
	}
	seed, id := make([]byte, signingSeed), newSigningKeyID()
	_, _ = rand.Read(seed) // it never fails
	if _, err := tx.ExecContext(ctx, "INSERT INTO signing_keys (id, seed, created_at) VALUES (?, ?, "+s.db.Now()+")", []byte(id), seed); err != nil {
		return err
	}
	after := struct {
		ID      string `json:"id"`
		Overlap string `json:"overlap"`
	}{id, overlap.String()}
	_, err := audit.Write(ctx, s.db, tx, audit.Change{Action: leaderboard.AuditActionSigningRotate, After: after})
	return err
}

func microsOrNone(t sql.NullTime) leaderboard.Micros {
	if !t.Valid {
		return 0
	}
	return leaderboard.MicrosOf(t.Time)
}
