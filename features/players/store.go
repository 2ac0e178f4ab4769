package players

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/jmoiron/sqlx"

	"leaderboard/internal/audit"
	"leaderboard/internal/mysql"
	"leaderboard/leaderboard"
)

// tokensVersion is the row of table_versions for issuers, signing keys and bars. A change of one of them takes the next
// version first, and so locks its row until the commit: changes have an order.
const tokensVersion = "tokens"

// Store is the tables that decide whether a player's token is valid: issuers, the keys that sign, and bars of members. All
// methods may be called concurrently.
type Store struct {
	db *mysql.DB
	// renew lets this process read the tables again after a change by an admin, which is then valid here when it returns;
	// nil: the process holds no tables. Elsewhere, and here when it fails, the change is known within a second.
	renew func(context.Context) error
}

// NewStore returns the issuers, signing keys and bars of a database, for tools.
func NewStore(db *mysql.DB) *Store { return &Store{db: db} }

// issuerRow is a row of issuers.
type issuerRow struct {
	Name    []byte    `db:"name"`
	Rules   []byte    `db:"rules"`
	Created time.Time `db:"created_at"`
	Updated time.Time `db:"updated_at"`
}

const issuerColumns = "name, rules, created_at, updated_at"

func (r *issuerRow) issuer() (Issuer, error) {
	i := Issuer{Name: string(r.Name), CreatedTime: leaderboard.MicrosOf(r.Created), UpdatedTime: leaderboard.MicrosOf(r.Updated)}
	if err := json.Unmarshal(r.Rules, &i.IssuerRules); err != nil {
		return i, fmt.Errorf("rules of issuer %s: %w", i.Name, err)
	}
	i.IssuerRules = i.WithDefaults()
	return i, nil
}

// PutIssuer creates an issuer or replaces its rules, which have passed Check; the same rules twice change nothing. Errors: a
// *leaderboard.RuleError, also when another issuer could name the same members; ErrUnavailable.
func (s *Store) PutIssuer(ctx context.Context, name string, rules IssuerRules) (out Issuer, created bool, err error) {
	wanted := Issuer{Name: name, IssuerRules: rules}
	err = s.changeHere(ctx, func(tx *sqlx.Tx) error {
		all, err := s.issuersIn(ctx, tx, "", maxIssuers+1)
		if err != nil {
			return err
		}
		old, err := oldIssuer(&wanted, all)
		if err != nil {
			return err
		}
		if created = old == nil; !created && reflect.DeepEqual(old.IssuerRules, rules) {
			out = *old
			return errNothing
		}
		text, err := json.Marshal(rules)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO issuers (name, rules, created_at, updated_at) VALUES (?, ?, "+s.db.Now()+", "+s.db.Now()+")"+
			" ON DUPLICATE KEY UPDATE rules = VALUES(rules), updated_at = VALUES(updated_at)", []byte(name), text)
		if err != nil {
			return err
		}
		c := audit.Change{Action: leaderboard.AuditActionIssuerCreate, After: issuerState{name, rules}}
		if old != nil {
			c.Action, c.Before = leaderboard.AuditActionIssuerUpdate, issuerState{name, old.IssuerRules}
		}
		if _, err = audit.Write(ctx, s.db, tx, c); err == nil {
			out, err = issuerIn(ctx, tx, name)
		}
		return err
	})
	return out, created, mysql.Translate(ctx, "put issuer", err)
}

// oldIssuer returns the stored issuer with the name of the wanted one, or nil. It fails if another issuer is in conflict with it.
func oldIssuer(wanted *Issuer, all []Issuer) (old *Issuer, err error) {
	for i := range all {
		if all[i].Name == wanted.Name {
			old = &all[i]
		} else if err := wanted.Meets(&all[i]); err != nil {
			return nil, err
		}
	}
	if old == nil && len(all) >= maxIssuers {
		return nil, &leaderboard.RuleError{Code: leaderboard.CodeInvalidIssuer, Detail: fmt.Sprintf("there are %d issuers already, as many as there may be", len(all))}
	}
	return old, nil
}

// issuerState is the audit's record of an issuer.
type issuerState struct {
	Name string `json:"name"`
	IssuerRules
}

// errNothing ends a transaction that has found nothing to change.
var errNothing = errors.New("nothing to change")

// changeTokens makes a change of issuers, signing keys or bars. errNothing of change is no error.
func (s *Store) changeTokens(ctx context.Context, change func(*sqlx.Tx) error) error {
	err := s.db.InTx(ctx, func(tx *sqlx.Tx) error {
		if err := s.db.NextVersion(ctx, tx, tokensVersion); err != nil {
			return err
		}
		return change(tx)
	})
	if errors.Is(err, errNothing) {
		return nil
	}
	return err
}

// changeHere is changeTokens for changes by admins: the change is valid here when it returns.
func (s *Store) changeHere(ctx context.Context, change func(*sqlx.Tx) error) error {
	err := s.changeTokens(ctx, change)
	if err == nil && s.renew != nil {
		_ = s.renew(ctx)
	}
	return err
}

// DeleteIssuer removes an issuer: its tokens are of no use from then on. ErrIssuerNotFound.
func (s *Store) DeleteIssuer(ctx context.Context, name string) error {
	err := s.changeHere(ctx, func(tx *sqlx.Tx) error {
		old, err := issuerIn(ctx, tx, name)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM issuers WHERE name = ?", []byte(name)); err != nil {
			return err
		}
		_, err = audit.Write(ctx, s.db, tx, audit.Change{Action: leaderboard.AuditActionIssuerDelete, Before: issuerState{name, old.IssuerRules}})
		return err
	})
	return mysql.Translate(ctx, "delete issuer", err)
}

// Issuer finds an issuer; ErrIssuerNotFound.
func (s *Store) Issuer(ctx context.Context, name string) (Issuer, error) {
	i, err := issuerIn(ctx, s.db.Pool, name)
	return i, mysql.Translate(ctx, "issuer", err)
}

func issuerIn(ctx context.Context, q sqlx.QueryerContext, name string) (Issuer, error) {
	var row issuerRow
	err := sqlx.GetContext(ctx, q, &row, "SELECT "+issuerColumns+" FROM issuers WHERE name = ?", []byte(name))
	if errors.Is(err, sql.ErrNoRows) {
		err = leaderboard.ErrIssuerNotFound
	}
	if err != nil {
		return Issuer{}, err
	}
	return row.issuer()
}

// Issuers lists up to limit issuers with a name after the given one, in the order of their names.
func (s *Store) Issuers(ctx context.Context, after string, limit int) ([]Issuer, error) {
	list, err := s.issuersIn(ctx, s.db.Pool, after, limit)
	return list, mysql.Translate(ctx, "issuers", err)
}

const selectIssuers = "SELECT " + issuerColumns + " FROM issuers WHERE name > ? ORDER BY name LIMIT ?"

func (s *Store) issuersIn(ctx context.Context, q sqlx.QueryerContext, after string, limit int) ([]Issuer, error) {
	var rows []issuerRow
	if err := sqlx.SelectContext(ctx, q, &rows, s.db.Limited(selectIssuers), []byte(after), max(0, limit)); err != nil {
		return nil, err
	}
	list := make([]Issuer, len(rows))
	for i := range rows {
		var err error
		if list[i], err = rows[i].issuer(); err != nil {
			return nil, err
		}
	}
	return list, nil
}
