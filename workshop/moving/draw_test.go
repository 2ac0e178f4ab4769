package moving

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestDraw draws three frames in which one member overtakes another and a server is killed.
func TestDraw(t *testing.T) {
	t.Parallel()
	server := Server{State: StateUp, Acknowledged: 1200}
	frame := func(seq int64, state State, rows ...Row) Frame {
		return Frame{Servers: [2]Server{{state, 7}, server}, Seq: seq, From: "server 2", Rows: rows, Says: "now"}
	}
	picture := Draw([]Frame{
		frame(9, StateUp, Row{"a<b", 30}, Row{"c", 10}),
		frame(1010, StateKilled, Row{"a<b", 30}, Row{"c", 15}),
		frame(1011, StateStarts, Row{"c", 60}, Row{"a<b", 30}),
	}, 500*time.Millisecond)
	if err := wellFormed(picture); err != nil {
		t.Errorf("%s\n%s", err, picture)
	}
	for _, want := range []string{
		// Texts of a strip, one for each frame.
		`<text class="name" x="0" y="22">9</text>` + "\n" + `<text class="name" x="0" y="54">1,010</text>` + "\n" + `<text class="name" x="0" y="86">1,011</text>`,
		`<text class="up" x="0" y="22">up</text>` + "\n" + `<text class="killed" x="0" y="54">killed with -9</text>` + "\n" + `<text class="starts" x="0" y="86">starts again</text>`,
		`>1,200 submissions<`, `>read from server 2<`, `>a&lt;b<`,
		// One second of movement, then the last frame for three.
		"@keyframes strip{25.00%,to{transform:translateY(-64px)}}", "strip 4.00s steps(2)",
		"@keyframes place0{0.00%{transform:translate(0px,0px)}12.50%{transform:translate(0px,0px)}25.00%{transform:translate(0px,38px)}to{",
		"@keyframes width1{0.00%{transform:scale(0.333,1)}12.50%{transform:scale(0.500,1)}25.00%{transform:scale(1.000,1)}to{",
	} {
		if !strings.Contains(string(picture), want) {
			t.Errorf("there is no %s", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", picture)
	}
}

// TestPictureOfReadme: the picture in the tree is small, of a run in which a server was killed, and its sums are equal.
func TestPictureOfReadme(t *testing.T) {
	t.Parallel()
	picture, err := os.ReadFile("../../docs/pictures/moving.svg")
	if err != nil {
		t.Fatal(err)
	}
	if err := wellFormed(picture); err != nil {
		t.Error(err)
	}
	if !bytes.Contains(picture, []byte(StateKilled)) || len(picture) > 1_500_000 {
		t.Errorf("%d bytes, without a server that is %s?", len(picture), StateKilled)
	}
	sums := regexp.MustCompile(`Acknowledged: (\d+) points. On the board: (\d+)\.`).FindSubmatch(picture)
	if sums == nil || !bytes.Equal(sums[1], sums[2]) {
		t.Errorf("it ends with %q", sums)
	}
}

func wellFormed(document []byte) error {
	for d := xml.NewDecoder(bytes.NewReader(document)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}
