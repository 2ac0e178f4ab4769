// Sqlite keeps an SQLite file equal to a board: it has every entry of the board, and no others. It may be killed at any moment
// and started again; the board's database may be restored from a backup meanwhile. docs/events.md has the guarantees that it
// relies on.
//
//	sqlite -server http://127.0.0.1:8080 -board arcade -file arcade.db
//
// The key, of scope admin, is in LEADERBOARD_KEY; the address may be in LEADERBOARD_URL. The file may be read while the program
// runs, and shows a state that the board had. This is its order, the member of strict rank 1 first, on a board whose rules are
// the defaults:
//
//	SELECT member, score FROM entries WHERE period = 'all_time' ORDER BY score DESC, tiebreak DESC, created_time, member
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// wait is how long the program waits for changes in one call, and between two calls when no changes will come.
const wait = 10 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "sqlite:", err)
		os.Exit(1) // whatever runs the program starts it again
	}
}

func run(ctx context.Context) error {
	server := flag.String("server", cmp.Or(os.Getenv("LEADERBOARD_URL"), "http://127.0.0.1:8080"), "address of the server")
	f := follower{}
	flag.StringVar(&f.board, "board", "arcade", "the board")
	path := flag.String("file", "board.db", "the SQLite file")
	flag.Parse()

	var err error
	waits := client.WithOnRetry(func(r client.Retry) {
		fmt.Fprintf(os.Stderr, "sqlite: %s: %v; asking again in %s\n", *server, r.Err, r.Pause)
	})
	if f.client, err = client.New(*server, client.WithKey(os.Getenv("LEADERBOARD_KEY")), waits); err != nil {
		return err
	}
	if f.file, err = openFile(ctx, *path); err != nil {
		return err
	}
	defer f.file.close()
	return f.run(ctx)
}

// follower takes a board's changes into a file.
type follower struct {
	client *client.Client
	board  string
	file   *file
}

// run follows the board until ctx ends or a fault occurs that only a person can fix.
func (f *follower) run(ctx context.Context) error {
	cursor, err := f.file.cursor(ctx)
	for err == nil {
		if cursor == "" {
			cursor, err = f.startOver(ctx)
		} else if cursor, err = f.step(ctx, cursor); errors.Is(err, leaderboard.ErrIncarnationChanged) || errors.Is(err, leaderboard.ErrFeedPruned) {
			// The board's past differs from the file's, or is no longer kept: no changes lead from one to the other.
			fmt.Fprintln(os.Stderr, "sqlite: starts over:", err)
			cursor, err = "", nil
		}
	}
	return err
}

// startOver makes the file equal to an export of the board, and returns the cursor of that.
func (f *follower) startOver(ctx context.Context) (string, error) {
	export, err := f.client.Export(ctx, f.board, client.FormatJSONL, client.ExportQuery{})
	if err != nil {
		return "", err
	}
	return export.Cursor, f.file.replace(ctx, export)
}

// step takes the changes after the cursor, or waits for some, and returns the cursor after them.
func (f *follower) step(ctx context.Context, cursor string) (string, error) {
	page, err := f.client.Changes(ctx, f.board, client.ChangesQuery{After: cursor, Wait: wait})
	if err != nil {
		return "", err
	}
	if err := f.file.apply(ctx, page); err != nil {
		return "", err
	}
	if n := len(page.Changes); n > 0 && page.Changes[n-1].End && page.Changes[n-1].Cursor == "" {
		// The last season of the board is over: each answer says so at once, until a new season is added.
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	return page.Cursor, nil
}
