package transfer

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/big"
	"os"
	"slices"
	"strconv"
	"strings"

	"leaderboard/client"
	"leaderboard/internal/csvcell"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
)

// Zset is a sorted set in a Redis, which may be written to meanwhile. Its methods are called one after another.
type Zset interface {
	// Size returns how many members it has, 0 when there is no such key.
	Size(ctx context.Context) (int64, error)
	// Scan returns some members, each with its score, and the cursor to continue at, which is 0 at the end. A member that
	// is there all the time comes at least once.
	Scan(ctx context.Context, from uint64) (members []ZsetMember, next uint64, err error)
}

// ZsetMember is a member of a sorted set.
type ZsetMember struct {
	Member string
	Score  float64
}

// ZsetSource says which sorted set a file was read from, and how.
type ZsetSource struct {
	Redis    string            `json:"redis"` // host:port/database, without user and password
	Key      string            `json:"zset"`
	Multiply int64             `json:"multiply"` // the factor of each score, at least 1
	Board    string            `json:"board"`
	Order    leaderboard.Order `json:"order"` // of the board
}

// ZsetRead is a sorted set to read into a file that Import takes.
type ZsetRead struct {
	Zset    Zset
	Source  ZsetSource // its order is the board's, which Run reads
	Client  *client.Client
	File    string
	Restart bool // read it again, whatever was read before
	Stderr  io.Writer
}

// Run reads the sorted set into the file, unless that was done before. The file is complete or absent. Its lines are in the
// order of the board, and members with equal scores are in the order of Redis: the import submits them in that order.
func (z ZsetRead) Run(ctx context.Context) error {
	board, err := z.Client.Board(ctx, z.Source.Board)
	if err != nil {
		return err
	}
	z.Source.Order = board.Rules.Order
	if !z.Restart {
		if there, err := z.there(); there || err != nil {
			return err
		}
	}
	members, err := z.read(ctx)
	if err != nil {
		return fmt.Errorf("read zset %s of %s: %w", terminal.Printable(z.Source.Key), z.Source.Redis, err)
	}
	if err := z.write(z.inOrder(members)); err != nil {
		return fmt.Errorf("write the members of the zset: %w", err)
	}
	return nil
}

// sourceFile returns the name of the file that holds the ZsetSource.
func (z *ZsetRead) sourceFile() string { return z.File + ".source" }

// there reports whether the file was read from the same sorted set in the same way. A file with other content is an error.
func (z *ZsetRead) there() (bool, error) {
	if _, err := os.Stat(z.File); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("look for the file: %w", err)
	}
	var earlier ZsetSource
	content, err := os.ReadFile(z.sourceFile())
	if err == nil {
		err = json.Unmarshal(content, &earlier)
	}
	if err != nil || earlier != z.Source {
		return false, fmt.Errorf("%s is there and was not read from this zset for this board; --restart reads the zset into it, or name another file after the board", z.File)
	}
	return true, nil
}

// read returns the members, each at least once.
func (z *ZsetRead) read(ctx context.Context) ([]ZsetMember, error) {
	size, err := z.Zset.Size(ctx)
	if err != nil {
		return nil, err
	}
	if size == 0 {
		return nil, errors.New("there is no such key, or it has no members")
	}
	bar := terminal.NewProgress(z.Stderr, size, "reading the zset", inEntries()...)
	defer bar.End()
	members := make([]ZsetMember, 0, size)
	for from := uint64(0); ; {
		more, next, err := z.Zset.Scan(ctx, from)
		if err != nil {
			return nil, err
		}
		members = append(members, more...)
		bar.Add(int64(len(more)))
		if next == 0 {
			return members, nil
		}
		from = next
	}
}

// inOrder returns each member once, with the score that was read last, in the order of ZREVRANGE or ZRANGE.
func (z *ZsetRead) inOrder(members []ZsetMember) []ZsetMember {
	slices.SortStableFunc(members, func(a, b ZsetMember) int { return cmp.Compare(a.Member, b.Member) })
	once := members[:0]
	for i, m := range members {
		if i+1 == len(members) || members[i+1].Member != m.Member {
			once = append(once, m)
		}
	}
	direction := -1
	if z.Source.Order == leaderboard.OrderAsc {
		direction = 1
	}
	slices.SortFunc(once, func(a, b ZsetMember) int {
		return direction * cmp.Or(cmp.Compare(a.Score, b.Score), cmp.Compare(a.Member, b.Member))
	})
	return once
}

// write writes the members into the file, and the ZsetSource into sourceFile. The latter is written first, since a file
// without it is never overwritten.
func (z *ZsetRead) write(members []ZsetMember) (err error) {
	if err := os.Remove(z.File); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	note, err := json.Marshal(z.Source)
	if err != nil {
		return err
	}
	if err := os.WriteFile(z.sourceFile(), append(note, '\n'), 0o666); err != nil {
		return err
	}
	return writeWhole(z.File, func(file io.Writer) error {
		w := bufio.NewWriter(file)
		_, _ = fmt.Fprintf(w, "%s,%s\n", columnMember, columnScore) // Flush returns the error of all writes
		for _, m := range members {
			_, _ = fmt.Fprintf(w, "%s,%s\n", fieldOf(csvcell.Quote(m.Member)), zsetScore(m.Score, z.Source.Multiply))
		}
		return w.Flush()
	})
}

// fieldOf returns a field of a CSV, in quotes unless it is plain. In quotes every byte stands for itself: a byte order mark too, which
// csv.Writer leaves bare.
func fieldOf(text string) string {
	odd := func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == ',' }
	if text != "" && !strings.ContainsFunc(text, odd) {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// zsetScore returns a score times multiply in digits, exactly. A double that is not whole counts as the shortest decimal
// that stands for it. If the product is not a whole number, the score is returned unchanged, for the import to refuse.
func zsetScore(score float64, multiply int64) string {
	asItIs := strconv.FormatFloat(score, 'g', -1, 64)
	if math.IsInf(score, 0) || math.IsNaN(score) {
		return asItIs
	}
	exact := new(big.Rat)
	if score == math.Trunc(score) {
		exact.SetFloat64(score)
	} else if _, ok := exact.SetString(asItIs); !ok {
		return asItIs
	}
	if exact.Mul(exact, new(big.Rat).SetInt64(multiply)); exact.IsInt() {
		return exact.Num().String()
	}
	return asItIs
}
