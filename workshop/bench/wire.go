package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// answerLimit is how long an answer may take.
const answerLimit = time.Minute

// wire is a connection that is kept alive, with one request after another.
type wire struct {
	conn net.Conn
	r    *bufio.Reader
}

// statusError is an answer that is an error.
type statusError struct {
	status int
	body   string
}

func (e *statusError) Error() string { return fmt.Sprintf("status %d: %s", e.status, e.body) }

// dial opens a connection for the given time.
func dial(addr string, length time.Duration) (*wire, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &wire{conn, bufio.NewReaderSize(conn, 64<<10)}, conn.SetDeadline(time.Now().Add(length))
}

func (w *wire) close() { _ = w.conn.Close() }

// skim sends a request and looks at little of the answer.
func (w *wire) skim(request []byte) (said, error) {
	if _, err := w.conn.Write(request); err != nil {
		return said{}, err
	}
	return skim(w.r)
}

// send sends a request and returns the body of the answer; an error answer is an error here.
func (w *wire) send(request []byte) ([]byte, error) {
	if _, err := w.conn.Write(request); err != nil {
		return nil, err
	}
	var body bytes.Buffer
	status, err := readAnswer(w.r, &body)
	if err == nil && status >= http.StatusBadRequest {
		err = &statusError{status, body.String()}
	}
	return body.Bytes(), err
}

const contentLength = "Content-Length: "

var errAnswer = errors.New("cannot read the answer")

// commonBytes is how far into an answer the members lie that all reading answers begin with.
const commonBytes = 512

// said is the state that an answer reports.
type said struct {
	status int
	stale  bool
	local  bool // it is from the memory of the process
	untold bool // of a submit: the first standing is not known
}

// skim reads an answer as far as the common members, and drops the rest.
func skim(r *bufio.Reader) (said, error) {
	status, length, err := readHead(r)
	if err != nil || length == 0 {
		return said{status: status}, err
	}
	head, err := r.Peek(int(min(length, commonBytes)))
	if err != nil {
		return said{}, err
	}
	s := said{
		status, bytes.Contains(head, []byte(`"stale":true`)), bytes.Contains(head, []byte(`"source":"local"`)), bytes.Contains(head, []byte(`"standing":null`)),
	}
	_, err = r.Discard(int(length))
	return s, err
}

// readAnswer reads one HTTP/1.1 answer that has a Content-Length.
func readAnswer(r *bufio.Reader, body io.Writer) (status int, err error) {
	status, length, err := readHead(r)
	if err == nil && length > 0 {
		_, err = io.CopyN(body, r, length)
	}
	return status, err
}

// readHead reads an answer as far as its body, and returns the length of the body.
func readHead(r *bufio.Reader) (status int, length int64, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return 0, 0, err
	}
	if len(line) < 12 {
		return 0, 0, errAnswer
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, 0, errAnswer
	}
	for {
		if line, err = r.ReadSlice('\n'); err != nil {
			return 0, 0, err
		}
		if len(line) <= 2 {
			break
		}
		if bytes.HasPrefix(line, []byte(contentLength)) {
			if length, err = strconv.ParseInt(string(bytes.TrimSpace(line[len(contentLength):])), 10, 64); err != nil {
				return 0, 0, errAnswer
			}
		}
	}
	if status == http.StatusNotModified || status == http.StatusNoContent {
		length = 0
	}
	return status, length, nil
}
