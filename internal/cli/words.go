package cli

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"leaderboard/client"
	"leaderboard/internal/terminal"
	"leaderboard/leaderboard"
)

// Errors between a command and its server, in the words of the command line: they name things by the typed words, and say the
// remedy where it is known.

// rewordedError is an error with another text than its own.
type rewordedError struct {
	text string
	err  error
}

func (t *rewordedError) Error() string { return t.text }
func (t *rewordedError) Unwrap() error { return t.err }

// reword gives an error another text.
func reword(err error, format string, args ...any) error {
	return &rewordedError{fmt.Sprintf(format, args...), err}
}

// explain returns an error of a request to a server with a text for the user. board is the board on the command line, "" for none.
func explain(ctx context.Context, err error, server, board string) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Canceled // err is of the last attempt, and not the reason for the end
	}
	if _, other := errors.AsType[*redisError](err); other { // it is not our server that is away
		return err
	}
	if p, ok := errors.AsType[*client.Problem](err); ok {
		return explainProblem(err, p, board)
	}
	if _, unknown := errors.AsType[x509.UnknownAuthorityError](err); unknown {
		return fmt.Errorf("%w\n  if the server has a private certificate, name the file of who signed it with --ca-file or LEADERBOARD_CA_FILE", err)
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return reword(err, "no server at %s: start one with `leaderboard dev` or `leaderboard serve`, or say where it is with --url", server)
	}
	if errors.Is(err, client.ErrTimeout) {
		return explainTimeout(err)
	}
	if away, ok := errors.AsType[*url.Error](err); ok {
		return reword(err, "%s: %s; --url says where the server is", server, away.Err)
	}
	return err
}

// waiting returns a line that says why a server did not answer, and when it is asked again.
func waiting(server string, retry client.Retry) string {
	return fmt.Sprintf("%s; asking again in %s", reason(server, retry.Err), retry.Pause.Round(100*time.Millisecond))
}

func reason(server string, err error) string {
	if p, ok := errors.AsType[*client.Problem](err); ok {
		return fmt.Sprintf("the server answered %d: %s", p.Status, strings.TrimSuffix(cmp.Or(p.Detail, p.Title, http.StatusText(p.Status)), "."))
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "no server at " + server
	}
	if away, ok := errors.AsType[*url.Error](err); ok && !errors.Is(err, client.ErrTimeout) {
		return server + ": " + away.Err.Error()
	}
	return err.Error()
}

// explainTimeout adds a hint at --timeout to the error of an answer that did not come in time.
func explainTimeout(err error) error {
	if errors.Is(err, client.ErrTimeout) {
		return fmt.Errorf("%w; --timeout says how long to wait", err)
	}
	return err
}

// namelessBoard is the server's detail when the board in a path does not exist.
const namelessBoard = "No board has this name."

// explainProblem returns the server's problem with a text for the user. For missing things and for keys, status and detail are
// enough.
func explainProblem(err error, p *client.Problem, board string) error {
	switch said := fmt.Sprintf("the server answered %d: %s", p.Status, cmp.Or(p.Detail, p.Title)); {
	case p.Answer != nil:
		return fmt.Errorf("%w; is --url right?", err)
	case p.Status == http.StatusUnauthorized:
		return reword(err, "%s\n  give a key with --key or LEADERBOARD_KEY", said)
	case p.Status == http.StatusForbidden:
		return reword(err, "%s\n  this key does not allow it; give another one with --key or LEADERBOARD_KEY", said)
	case p.Code() == leaderboard.CodeBoardNotFound && p.Detail == namelessBoard && board != "":
		return reword(err, "the server answered %d: no board is called %s", p.Status, terminal.Printable(board))
	case p.Status == http.StatusNotFound && len(p.Errors) == 0:
		return reword(err, "%s", said)
	}
	return err
}
