package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"

	"leaderboard/client"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
)

// Stdin is the name of a file that stands for standard input.
const Stdin = "-"

// Imported is the outcome of an import: of this run and of the runs that it continues.
type Imported struct {
	Board     string `json:"board"`
	File      string `json:"file"`
	Entries   int64  `json:"entries"`
	Applied   int64  `json:"applied"`
	Unchanged int64  `json:"unchanged"`
	Refused   int64  `json:"refused"`
	Replayed  int64  `json:"replayed"`         // applied or unchanged by an earlier request of the same content: they count once
	New       int64  `json:"new_members"`      // that had no entry on the board; other entries are of members that had one
	Report    string `json:"report,omitempty"` // file with the refused lines
	Seq       int64  `json:"seq"`              // of the board's first window
	Sent      int64  `json:"sent"`             // entries that this run has dealt with
	Took      string `json:"took"`

	took time.Duration
}

// Import is an import to make.
type Import struct {
	Client *client.Client // repeats the request of a batch up to its own limit
	Board  string
	File   string // "-": Stdin
	Stdin  io.Reader
	Format string // "": by the name of the file
	Raw    bool   // in CSV a quote (') before an id that spreadsheets would treat as a formula belongs to the id
	Batch  int    // entries per request; a continued import keeps its first value
	Key    string // imports with different keys count apart; may be ""

	Refused  string // file for the refused lines; "": FILE.refused, for standard input Stderr
	Progress string // file that says how far the import has come; "": FILE.progress, of standard input none
	Restart  bool   // from the first line, whatever the progress says
	Stderr   io.Writer
}

// importing is a run of an import.
type importing struct {
	Import
	done   importProgress
	reader *importReader
	report importReport
	bar    *terminal.Progress
	before int64 // entries that earlier runs have dealt with
}

// Stopped is an import that ended before its end; the same call continues where it stopped.
type Stopped struct {
	Line int64 // the lines before it are dealt with; 0 without a progress file
	Err  error
}

func (s *Stopped) Error() string { return s.Err.Error() }
func (s *Stopped) Unwrap() error { return s.Err }

// Run submits the entries of the file. It continues where an earlier run of the same import stopped, and does nothing if
// that run was complete. An error after the first batch has begun is a *Stopped.
func (i Import) Run(ctx context.Context) (out Imported, err error) {
	start := time.Now()
	im := &importing{Import: i, report: importReport{w: i.Stderr}}
	if im.File != Stdin {
		im.Refused = cmp.Or(im.Refused, im.File+".refused")
		im.Progress = cmp.Or(im.Progress, im.File+".progress")
	}
	im.report.name = im.Refused
	im.done = importProgress{Version: importVersion, Board: im.Board, Format: FormatOf(im.Format, im.File), Batch: im.Batch, Key: im.Key}
	if im.done.Created, err = im.boardCreated(ctx); err != nil {
		return out, err
	}
	key, err := im.Client.OwnKey(ctx)
	if err != nil {
		return out, err
	}
	im.done.APIKey = key.ID
	in, size, err := im.open()
	if err != nil {
		return out, err
	}
	defer in.Close()
	if err := im.resume(in); err != nil {
		return out, err
	}
	im.bar = terminal.NewProgress(im.Stderr, max(size-im.done.Offset, -1), im.subject(), progressbar.OptionShowBytes(true), progressbar.OptionShowCount())
	err = im.run(ctx)
	im.bar.End()
	if err = errors.Join(err, im.report.close()); err != nil {
		stopped := &Stopped{Err: err}
		if im.Progress != "" {
			stopped.Line = im.done.Line
		}
		return out, stopped
	}
	return im.imported(time.Since(start)), nil
}

// subject returns the subject of the bar: the file, or the rest that an earlier run has left.
func (im *importing) subject() string {
	if im.done.Offset == 0 {
		return "importing into " + im.Board
	}
	return fmt.Sprintf("importing the rest, from line %s on, into %s", terminal.Count(im.done.Line), im.Board)
}

// boardCreated returns when the board was made.
func (im *importing) boardCreated(ctx context.Context) (string, error) {
	b, err := im.Client.Board(ctx, im.Board)
	if err != nil {
		return "", err
	}
	if b.CreatedTime.IsZero() {
		return "", errors.New("this is no answer of a leaderboard server; is --url right?")
	}
	return leaderboard.MicrosOf(b.CreatedTime).String(), nil
}

// open opens the file; its size is -1 when it is not known.
func (im *importing) open() (io.ReadCloser, int64, error) {
	if im.File == Stdin {
		return io.NopCloser(im.Stdin), -1, nil
	}
	file, err := os.Open(im.File)
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

// resume begins to read the file, after the part that an earlier run has dealt with.
func (im *importing) resume(in io.Reader) error {
	if !im.Restart {
		earlier, err := loadProgress(im.Progress)
		if err != nil {
			return err
		}
		if earlier != nil {
			if err := earlier.checkSame(&im.done, im.Progress); err != nil {
				return err
			}
			im.done = *earlier // with its size of batches, from which the keys follow
		}
	}
	src, err := newSource(in, im.done.seed())
	if err == nil {
		im.reader, err = newImportReader(src, im.done.Format)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", im.File, err)
	}
	im.reader.raw = im.Raw
	if im.done.Hash != "" {
		if err := im.skip(); err != nil {
			return err
		}
	}
	im.before = im.done.entries()
	if err := im.report.open(im.done.Report); err != nil {
		return err
	}
	return im.save()
}

// skip passes over the part that is dealt with, and fails when it has changed. New lines may follow it, and its last line may
// have got its line end since.
func (im *importing) skip() error {
	there, err := im.reader.skipTo(im.done.Offset)
	if err != nil {
		return fmt.Errorf("%s: %w", im.File, err)
	}
	ended, err := im.reader.skipLineEnd()
	if err != nil {
		return fmt.Errorf("%s: %w", im.File, err)
	}
	if !there || hashOf(im.reader.hash) != im.done.Hash || !ended {
		return fmt.Errorf("%s has changed in the part that was imported, ahead of line %d; %s", im.File, im.done.Line, restartHint)
	}
	return nil
}

// save writes how far the reader has come.
func (im *importing) save() error {
	im.done.Offset, im.done.Line, im.done.Hash, im.done.Report = im.reader.offset, im.reader.line, hashOf(im.reader.hash), im.report.size
	return im.done.save(im.Progress)
}

// run sends the batches, one after another: the entries count in the order of the file.
func (im *importing) run(ctx context.Context) error {
	for {
		batch, err := readBatch(im.reader, im.done.Batch)
		if err != nil {
			return fmt.Errorf("%s: %w", im.File, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(batch.lines) > 0 {
			result, err := batch.send(ctx, im.Client, im.done.Board, im.done.Unanswered == batch.key)
			if err != nil {
				im.done.Unanswered = batch.key
				return errors.Join(err, im.done.save(im.Progress))
			}
			im.done.Unanswered = ""
			im.done.Applied += result.applied
			im.done.Unchanged += result.unchanged
			im.done.Replayed += result.replayed
			im.done.New += result.newMembers
			im.done.Seq = result.seq
			batch.refused = inOrder(batch.refused, result.rejected)
		}
		if err := im.report.add(batch.refused); err != nil {
			return err
		}
		im.done.Refused += int64(len(batch.refused))
		im.done.Complete = batch.end
		from := im.done.Offset
		if err := im.save(); err != nil {
			return err
		}
		im.bar.Add(im.done.Offset - from)
		if batch.end {
			return nil
		}
	}
}

// inOrder merges refused lines by their numbers.
func inOrder(a, b []rejectedLine) []rejectedLine {
	return slices.SortedFunc(slices.Values(slices.Concat(a, b)), func(x, y rejectedLine) int { return cmp.Compare(x.line, y.line) })
}

// imported returns the outcome of the import.
func (im *importing) imported(took time.Duration) Imported {
	out := Imported{
		Board: im.done.Board, File: im.File, Entries: im.done.entries(), Applied: im.done.Applied, Unchanged: im.done.Unchanged,
		Refused: im.done.Refused, Replayed: im.done.Replayed, New: im.done.New, Seq: im.done.Seq, Sent: im.done.entries() - im.before, Took: took.Round(time.Millisecond).String(),
		took: took,
	}
	if out.Refused > 0 {
		out.Report = im.report.name
	}
	return out
}

// nothingNew says why a run had nothing to send.
func (v *Imported) nothingNew() string {
	switch lines := terminal.Count(v.Entries); {
	case v.Entries == 0:
		return "; the file has no entries"
	case v.Applied+v.Replayed == v.Entries:
		return "; nothing new: all " + lines + " lines were applied by an earlier run"
	default:
		return "; nothing new: all " + lines + " lines were dealt with by an earlier run"
	}
}

// Line returns the outcome as a line for people.
func (v *Imported) Line() string {
	line := fmt.Sprintf("%s into %s: %d applied, %d unchanged, %d refused", v.File, v.Board, v.Applied, v.Unchanged, v.Refused)
	if v.Replayed > 0 {
		line += fmt.Sprintf(", %d counted before by an earlier request", v.Replayed)
	}
	if v.Report != "" {
		line += ", see " + v.Report
	}
	if v.Sent == 0 {
		return line + v.nothingNew()
	}
	if v.Sent < v.Entries {
		line += fmt.Sprintf("; %d of them by this run", v.Sent)
	}
	line += fmt.Sprintf("; members new on the board: %d", v.New)
	return line + fmt.Sprintf(" (%.0f per second)", Rate(v.Sent, v.took))
}
