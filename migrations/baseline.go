package migrations

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	_ "embed" // the baseline
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/go-sql-driver/mysql"
	"github.com/pressly/goose/v3"
)

// How a program recognizes its own schema.
//
// The numbers of migrations do not suffice: until v0.1.1 the baseline was edited in place. So the first Up writes the SHA-256 of
// the baseline into the table schema_baseline before anything else, and the Down that ends with nothing drops that table before
// anything else. A database is then in one of these states, wherever a process was killed:
//
//	nothing of ours                     Up may begin
//	our baseline, version 0             an Up that was cut short; Up continues
//	our baseline, version n             n migrations are applied; more than this program has if a newer one was here
//	no baseline, 1 ≤ version ≤ Latest   a Down that was cut short; Down continues
//	anything else                       ErrOtherSchema
const (
	baselineTable  = "schema_baseline"
	createBaseline = "CREATE TABLE IF NOT EXISTS " + baselineTable + ` (
    id     TINYINT    NOT NULL COMMENT '1',
    sha256 BINARY(32) NOT NULL COMMENT 'of the first migration, which this schema began with',
    PRIMARY KEY (id)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4`
)

// ErrOtherSchema means that the tables of a database were not made by the migrations of this program. It does not change
// them.
var ErrOtherSchema = errors.New("this database has another schema")

//go:embed 00001_baseline.sql
var baseline string

// baselineVersion is the number of the baseline.
const baselineVersion = 1

// Baseline names the schema that the migrations begin with: the SHA-256 of the first one, in hexadecimal digits. Data
// made with another baseline cannot be used.
func Baseline() string { return hex.EncodeToString(baselineSum()) }

func baselineSum() []byte {
	sum := sha256.Sum256([]byte(baseline))
	return sum[:]
}

// found is the content of a database.
type found struct {
	version  int64  // newest applied migration; 0: none
	baseline []byte // SHA-256 of the baseline that it began with; nil: not noted
	table    string // one of the tables of the baseline; "": none exists
}

// inspect changes nothing and takes no lock.
func inspect(ctx context.Context, db *sql.DB) (f found, err error) {
	tables, err := tablesOf(ctx, db)
	if err != nil {
		return f, err
	}
	for _, m := range regexp.MustCompile(`CREATE TABLE IF NOT EXISTS (\w+)`).FindAllStringSubmatch(baseline, -1) {
		if slices.Contains(tables, m[1]) {
			f.table = m[1]
			break
		}
	}
	// These two are named explicitly: a list lacks the tables that the account may not read, and a schema whose migration
	// rows cannot be seen would look like another program's.
	const newest = "SELECT COALESCE(MAX(version_id), 0) FROM " + goose.DefaultTablename + " WHERE is_applied"
	if err := db.QueryRowContext(ctx, newest).Scan(&f.version); err != nil && !noTable(err) {
		return f, err
	}
	err = db.QueryRowContext(ctx, "SELECT sha256 FROM "+baselineTable+" WHERE id = 1").Scan(&f.baseline)
	if errors.Is(err, sql.ErrNoRows) || noTable(err) {
		err = nil
	}
	return f, err
}

func noTable(err error) bool {
	const noSuchTable = 1146
	my, ok := errors.AsType[*mysql.MySQLError](err)
	return ok && my.Number == noSuchTable
}

func tablesOf(ctx context.Context, db *sql.DB) (names []string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE()")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// errHalfDown is an ErrOtherSchema that Down repairs.
var errHalfDown = fmt.Errorf("%w: taking it back was cut short, and `leaderboard migrate down` goes on with it", ErrOtherSchema)

// check returns an ErrOtherSchema that says what to do, unless the schema is this program's or empty.
func (f *found) check() error {
	switch {
	case bytes.Equal(f.baseline, baselineSum()):
		return nil
	case f.baseline == nil && f.version == 0 && f.table == "":
		return nil
	case f.baseline == nil && f.version == 0:
		return fmt.Errorf("%w: there is a table %s already, which no migration made; use an empty database", ErrOtherSchema, f.table)
	case f.baseline == nil && f.version <= Latest():
		return errHalfDown
	}
	differs := "the baseline has been edited since"
	if f.version > Latest() {
		differs = fmt.Sprintf("its newest migration is %d, here it is %d", f.version, Latest())
	}
	return fmt.Errorf("%w, made by another version before v0.1.1 (%s), and nothing converts it: use an empty database; "+
		"`leaderboard export` there and `leaderboard import` here move the scores", ErrOtherSchema, differs)
}

// begin writes the note of the baseline, unless it is there.
func (f *found) begin(ctx context.Context, db *sql.DB) error {
	if f.baseline != nil {
		return nil
	}
	if _, err := db.ExecContext(ctx, createBaseline); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "INSERT INTO "+baselineTable+" (id, sha256) VALUES (1, ?)", baselineSum())
	return err
}

// end removes the note, before the baseline is reverted.
func end(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, "DROP TABLE IF EXISTS "+baselineTable)
	return err
}

// completeTable writes the row that goose writes into its new table, if a process was killed between the two: otherwise
// goose would fail for ever.
func completeTable(ctx context.Context, db *sql.DB) error {
	tables, err := tablesOf(ctx, db)
	if err != nil || !slices.Contains(tables, goose.DefaultTablename) {
		return err
	}
	var rows int
	if err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+goose.DefaultTablename).Scan(&rows); err != nil || rows > 0 {
		return err
	}
	_, err = db.ExecContext(ctx, "INSERT INTO "+goose.DefaultTablename+" (version_id, is_applied) VALUES (0, TRUE)")
	return err
}
