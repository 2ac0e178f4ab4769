package demo

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"leaderboard/leaderboard"
)

// Database is the part of the store that the player needs. After an error the player continues.
type Database interface {
	Submit(ctx context.Context, r leaderboard.SubmitRequest) (leaderboard.Receipt, error)
	Current(ctx context.Context, board string) (leaderboard.Listing, error)
	Page(ctx context.Context, ref leaderboard.PeriodRef, q leaderboard.PageQuery) (*leaderboard.Page, error)
}

const (
	// minPause and maxPause bound the time between two submissions.
	minPause, maxPause = 250 * time.Millisecond, 900 * time.Millisecond
	chasers            = 20    // ranks among which a member overtakes another
	highest            = 9_999 // no member overtakes beyond it, so that scores do not grow without end
	openings           = 5     // submissions at the start that are tries to have a member overtake, until one did
)

// Play submits a score for one of the regulars now and then, until ctx ends. members is how many members Board has. It adds no
// member to Board, and does not play on boards that were made by hand or have got another title.
func Play(ctx context.Context, database Database, members int, log *slog.Logger) {
	p := newPlayer(database, members)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(minPause + rand.N(maxPause-minPause)):
		}
		if err := p.play(ctx, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))); err != nil && ctx.Err() == nil {
			log.Debug("the demo player could not play", "error", err)
		}
	}
}

// player plays on the boards.
type player struct {
	database Database
	regulars []int
	known    map[string]bool // their ids
	rules    map[string]leaderboard.Rules
	openings int // that are left
}

func newPlayer(database Database, members int) *player {
	p := &player{database: database, regulars: regulars(members), known: map[string]bool{}, rules: boardRules(time.Time{}), openings: openings}
	for _, i := range p.regulars {
		p.known[Member(i)] = true
	}
	return p
}

// play submits once. At the start it lets a member of Board overtake another one, since people look at its page then.
func (p *player) play(ctx context.Context, r *rand.Rand) error {
	i := p.regulars[r.IntN(len(p.regulars))]
	board, e := Board, leaderboard.Submission{Member: Member(i)}
	opening := p.openings > 0
	switch n := r.IntN(10); {
	case opening, n < 4:
		window := leaderboard.WindowAllTime
		if !opening && r.IntN(2) == 0 {
			window = leaderboard.WindowDay
		}
		p.openings--
		overtaking, err := p.overtaking(ctx, r, window)
		if err != nil || overtaking == nil {
			return err
		}
		e, p.openings = *overtaking, 0
	case n < 6:
		e.Score = dayScore(r, Score(i))
	case n < 7:
		board, e.Score = Maze, dayScore(r, Score(i+100))
	case n < 8:
		board, e.Score, e.Fields = Dungeon, gold(r, i), dungeonFields(r)
	case n < 9:
		board, e.Score = Cup, points(r, i)
	default:
		board, e.Score = Laps, lap(r, i)
	}
	listing, err := p.database.Current(ctx, board)
	if err != nil || listing.Board.Rules.Title != p.rules[board].Title {
		return err
	}
	_, err = p.database.Submit(ctx, leaderboard.SubmitRequest{Board: board, Entries: []leaderboard.Submission{e}})
	return err
}

// overtaking returns a score with which a member near the top of Board overtakes another member or draws level, nil if that
// is not possible.
func (p *player) overtaking(ctx context.Context, r *rand.Rand, window leaderboard.Window) (*leaderboard.Submission, error) {
	listing, err := p.database.Current(ctx, Board)
	if err != nil {
		return nil, err
	}
	for i := range listing.Periods {
		period := &listing.Periods[i]
		if period.Window != window || period.ID == 0 {
			continue
		}
		page, err := p.database.Page(ctx, period.Ref(&listing.Board), leaderboard.PageQuery{Limit: chasers})
		if err != nil || len(page.Entries) < 2 {
			return nil, err
		}
		from := 1 + r.IntN(len(page.Entries)-1)
		to := max(0, from-1-r.IntN(4))
		score := max(page.Entries[to].Score+r.Int64N(4), page.Entries[from].Score+1) // as much as the other one: a tie, behind
		if who := page.Entries[from].Member; p.known[who] && score < highest {       // it plays for its own members only
			return &leaderboard.Submission{Member: who, Score: score}, nil
		}
	}
	return nil, nil // none to overtake
}
