package main

import (
	"bufio"
	"bytes"
	"strconv"
	"strings"
	"testing"
)

func TestReadAnswer(t *testing.T) {
	stream := "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX: y\r\n\r\nhello" + "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n" + "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
	r := bufio.NewReader(strings.NewReader(stream))
	for _, want := range []struct {
		status int
		body   string
	}{{200, "hello"}, {304, ""}, {503, ""}} {
		var body bytes.Buffer
		status, err := readAnswer(r, &body)
		if err != nil || status != want.status || body.String() != want.body {
			t.Errorf("got %d %q %v, want %d %q", status, body.String(), err, want.status, want.body)
		}
	}
	for _, bad := range []string{"", "HTTP\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort"} {
		if _, err := readAnswer(bufio.NewReader(strings.NewReader(bad)), &bytes.Buffer{}); err == nil {
			t.Errorf("%q was understood", bad)
		}
	}
}

func TestSkim(t *testing.T) {
	for body, want := range map[string]said{
		`{"board":"b","source":"local","stale":false,"entries":[]}`:                             {status: 200, local: true},
		`{"board":"b","source":"redis","stale":true,"entries":[]}`:                              {status: 200, stale: true},
		`{"board":"b",` + strings.Repeat(" ", 2*commonBytes) + `"source":"local","stale":true}`: {status: 200},
		``: {status: 200},
		`{"results":[{"member":"a","status":"applied","standing":null}],"seq":1}`: {status: 200, untold: true},
	} {
		var stream bytes.Buffer
		for range 2 { // the second one shows that the first was read to its end
			stream.WriteString("HTTP/1.1 200 OK\r\nContent-Length: ")
			stream.WriteString(strconv.Itoa(len(body)))
			stream.WriteString("\r\n\r\n" + body)
		}
		r := bufio.NewReaderSize(&stream, 4096)
		for range 2 {
			if got, err := skim(r); err != nil || got != want {
				t.Errorf("%s: %+v, %v, want %+v", body, got, err, want)
			}
		}
	}
}
