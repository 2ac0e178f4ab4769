package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"
)

// stdinName stands for standard input.
const stdinName = "-"

// importView says what was imported, by this run and the ones that it went on from.
type importView struct {
	Board     string `json:"board"`
	File      string `json:"file"`
	Entries   int64  `json:"entries"`
	Applied   int64  `json:"applied"`
	Unchanged int64  `json:"unchanged"`
	Refused   int64  `json:"refused"`
	Report    string `json:"report,omitempty"` // file with the refused lines
	Seq       int64  `json:"seq"`              // of the board's first window
	Sent      int64  `json:"sent"`             // entries that this run has dealt with
	Took      string `json:"took"`
}

// importing is one run of an import.
type importing struct {
	cfg    *config
	name   string // of the file
	client *client
	done   importProgress
	reader *importReader
	report importReport
	bar    *progress
	before int64 // entries that earlier runs have dealt with
}

// importFile submits the entries of a file. It goes on where an earlier run of the same import stopped; one that is
// complete changes nothing.
func (p *program) importFile(ctx context.Context, cfg config, args []string) (err error) {
	if len(args) != 2 {
		return usagef("want a board and a file, as in: leaderboard import demo scores.csv (- for standard input)")
	}
	start := time.Now()
	im := &importing{cfg: &cfg, name: args[1], client: newClient(&cfg), report: importReport{w: p.err}}
	im.report.name = cfg.refused
	progress := cfg.progress
	if im.name != stdinName {
		im.report.name = cmp.Or(im.report.name, im.name+".refused")
		progress = cmp.Or(progress, im.name+".progress")
	}
	im.done = importProgress{
		Version: importVersion, Board: args[0], Format: formatOf(cfg.format, im.name), Batch: cfg.batch, Key: cfg.idempotencyKey,
	}
	if im.done.Created, err = im.boardCreated(ctx, args[0]); err != nil {
		return err
	}
	in, size, err := p.openImport(im.name)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := im.resume(in, progress); err != nil {
		return err
	}
	im.bar = p.progress(max(size-im.done.Offset, -1), "importing into "+args[0], progressbar.OptionShowBytes(true), progressbar.OptionShowCount())
	err = im.run(ctx, progress)
	im.bar.end()
	if err = errors.Join(err, im.report.close()); err != nil {
		if progress != "" {
			fmt.Fprintf(p.err, "leaderboard: the lines ahead of line %d are dealt with; the same command goes on there\n", im.done.Line)
		}
		return err
	}
	return p.showImport(im, time.Since(start))
}

// boardCreated is when the board was made.
func (im *importing) boardCreated(ctx context.Context, board string) (string, error) {
	answer, _, err := im.client.do(ctx, request{method: http.MethodGet, path: boardPath(board)})
	if err != nil {
		return "", err
	}
	var b boardView
	if err := json.Unmarshal(answer, &b); err != nil || b.CreatedTime == "" {
		return "", errors.New("this is no answer of a leaderboard server; is --url right?")
	}
	return b.CreatedTime, nil
}

// openImport opens the file; its size is -1 when it is not known.
func (p *program) openImport(name string) (io.ReadCloser, int64, error) {
	if name == stdinName {
		return io.NopCloser(p.in), -1, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, 0, fmt.Errorf("open the file: %w", err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("open the file: %w", err), file.Close())
	}
	if info.Mode().IsRegular() {
		return file, info.Size(), nil
	}
	return file, -1, nil
}

// resume begins to read the file, behind what an earlier run has dealt with.
func (im *importing) resume(in io.Reader, progress string) error {
	if !im.cfg.restart {
		earlier, err := loadProgress(progress)
		if err != nil {
			return err
		}
		if earlier != nil {
			if err := earlier.checkSame(&im.done, progress); err != nil {
				return err
			}
			im.done = *earlier // its batches are as large as they were, or the keys would be others
		}
	}
	src, err := newSource(in, im.done.seed())
	if err == nil {
		im.reader, err = newImportReader(src, im.done.Format)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", im.name, err)
	}
	if im.done.Hash != "" {
		if err := im.skip(); err != nil {
			return err
		}
	}
	im.before = im.done.entries()
	if err := im.report.open(im.done.Report); err != nil {
		return err
	}
	return im.save(progress)
}

// skip passes over what is dealt with, if it is still what it was. More may have been put behind it, on new lines; the
// end of its last line may have come with them.
func (im *importing) skip() error {
	there, err := im.reader.takeTo(im.done.Offset)
	if err != nil {
		return fmt.Errorf("%s: %w", im.name, err)
	}
	ended, err := im.reader.takeLineEnd()
	if err != nil {
		return fmt.Errorf("%s: %w", im.name, err)
	}
	if !there || hashOf(im.reader.hash) != im.done.Hash || !ended {
		return fmt.Errorf("%s has changed in what was imported already, which is the part ahead of line %d; %s", im.name, im.done.Line, restartHint)
	}
	return nil
}

// save notes how far the reader has come.
func (im *importing) save(progress string) error {
	im.done.Offset, im.done.Line, im.done.Hash, im.done.Report = im.reader.offset, im.reader.line, hashOf(im.reader.hash), im.report.size
	return im.done.save(progress)
}

// run sends the batches, one after another: the order of the file is the order in which they count.
func (im *importing) run(ctx context.Context, progress string) error {
	for {
		batch, err := readBatch(im.reader, im.done.Batch)
		if err != nil {
			return fmt.Errorf("%s: %w", im.name, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(batch.lines) > 0 {
			result, err := batch.send(ctx, im.client, im.done.Board, im.cfg.retryFor)
			if err != nil {
				return err
			}
			im.done.Applied += result.applied
			im.done.Unchanged += result.unchanged
			im.done.Seq = result.seq
			batch.refused = inOrder(batch.refused, result.rejected)
		}
		if err := im.report.add(batch.refused); err != nil {
			return err
		}
		im.done.Refused += int64(len(batch.refused))
		im.done.Complete = batch.end
		from := im.done.Offset
		if err := im.save(progress); err != nil {
			return err
		}
		im.bar.add(im.done.Offset - from)
		if batch.end {
			return nil
		}
	}
}

// inOrder merges refused lines by their numbers.
func inOrder(a, b []refusal) []refusal {
	return slices.SortedFunc(slices.Values(slices.Concat(a, b)), func(x, y refusal) int { return cmp.Compare(x.line, y.line) })
}

// showImport tells the outcome. With refused lines the exit status is its own.
func (p *program) showImport(im *importing, took time.Duration) error {
	view := importView{
		Board: im.done.Board, File: im.name, Entries: im.done.entries(), Applied: im.done.Applied, Unchanged: im.done.Unchanged,
		Refused: im.done.Refused, Seq: im.done.Seq, Sent: im.done.entries() - im.before, Took: took.Round(time.Millisecond).String(),
	}
	if view.Refused > 0 {
		view.Report = im.report.name
	}
	err := error(nil)
	if im.cfg.json {
		err = printJSON(p.out, view)
	} else {
		_, err = fmt.Fprintln(p.out, view.line(took))
	}
	if err == nil && view.Refused > 0 {
		err = errRefused
	}
	return err
}

func (v *importView) line(took time.Duration) string {
	line := fmt.Sprintf("%s into %s: %d applied, %d unchanged, %d refused", v.File, v.Board, v.Applied, v.Unchanged, v.Refused)
	if v.Report != "" {
		line += ", see " + v.Report
	}
	if v.Sent == 0 {
		return line + "; nothing new in it"
	}
	if v.Sent < v.Entries {
		line += fmt.Sprintf("; %d of them by this run", v.Sent)
	}
	return line + fmt.Sprintf(" (%.0f per second)", rate(v.Sent, took))
}
