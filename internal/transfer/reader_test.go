package transfer

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"leaderboard/client"
	"leaderboard/leaderboard"
)

// readImport reads an input to its end. It returns the entries and the faults, each with its line, or the error.
func readImport(in io.Reader, format string) string {
	src, err := newSource(in, sha256.New())
	if err != nil {
		return err.Error()
	}
	r, err := newImportReader(src, format)
	if err != nil {
		return err.Error()
	}
	var out strings.Builder
	for {
		e, line, fault, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			return out.String()
		case err != nil:
			return out.String() + err.Error()
		case fault != "":
			fmt.Fprintf(&out, "%d: %s\n", line, fault)
			continue
		}
		fmt.Fprintf(&out, "%d: %q=%d", line, e.Member, e.Score)
		if e.Tiebreak != nil {
			fmt.Fprintf(&out, " tiebreak %d", *e.Tiebreak)
		}
		if e.Fields != nil {
			fmt.Fprintf(&out, " fields %v", e.Fields)
		}
		if e.CreatedTime != nil {
			fmt.Fprintf(&out, " at %s", e.CreatedTime)
		}
		out.WriteByte('\n')
	}
}

// TestReadCSV: the faults that a file can have, and the entries read from the other lines.
func TestReadCSV(t *testing.T) {
	const head = "member,score\n"
	long := strings.Repeat("x", maxRecord)
	for name, c := range map[string]struct{ in, want string }{
		"plain":              {head + "a,1\nb,-2", "2: \"a\"=1\n3: \"b\"=-2\n"},
		"formulas":           {head + "=a,1\n'=b,2\n''+c,3\n'd,4\n'" + strings.Repeat("-", 64) + ",5", "2: \"=a\"=1\n3: \"=b\"=2\n4: \"'+c\"=3\n5: \"'d\"=4\n6: \"" + strings.Repeat("-", 64) + "\"=5\n"},
		"CRLF":               {"member,score\r\na,1\r\n\r\nb,2\r\n", "2: \"a\"=1\n4: \"b\"=2\n"},
		"CR at the end":      {"member,score\r\na,1\r", "2: \"a\"=1\n"},
		"mark at the start":  {byteOrder + head + "a,1\n", "2: \"a\"=1\n"},
		"mark in the middle": {head + "a,1\n" + byteOrder + "b,2\nc,3\n", "2: \"a\"=1\n3: begins with a byte order mark, in the middle of the file\n4: \"c\"=3\n"},
		"mark in quotes":     {head + "\"" + byteOrder + "b\",2\n", "2: \"\\ufeffb\"=2\n"},
		"UTF-16":             {"\xff\xfem\x00", "it is UTF-16, want UTF-8"},
		"UTF-16 too":         {"\xfe\xff\x00m", "it is UTF-16, want UTF-8"},
		"empty lines":        {"\n\n" + head + "\na,1\n\n\nb,2\n\n", "5: \"a\"=1\n8: \"b\"=2\n"},
		"empty quotes":       {head + "\"\"\n", "2: has 1 fields, want 2\n"},
		"quotes":             {head + "\"a,\"\"b\"\"\n\r\nc\",1\r\n\"d\",\"2\"\n", "2: a member id has no control characters, this one has U+000A\n5: \"d\"=2\n"},
		"quote inside":       {head + "a\"b,1\nc,2\n", "2: " + faultQuote + "\n3: \"c\"=2\n"},
		"behind a quote":     {head + "\"a\"b,1\nc,2\n", "2: " + faultBehind + "\n3: \"c\"=2\n"},
		"not closed":         {head + "\"a,1\nb,2\nc,3\n", "2: " + faultUnclosed + "\n3: \"b\"=2\n4: \"c\"=3\n"},
		"not closed, large":  {head + "\"a,1\n" + strings.Repeat("b,2\n", maxRecord/4), "2: " + faultUnclosed + "\n" + lines(3, maxRecord/4, "\"b\"=2")},
		"return":             {head + "a\rb,1\nc,2\n", "2: " + faultReturn + "\n3: \"c\"=2\n"},
		"old Macintosh":      {"member,score\ra,1\r", "its first line, the names of the columns, " + faultReturn},
		"NUL":                {head + "a\x00,1\n\"c\x00\",2\n", "2: " + faultNUL + "\n3: a member id has no control characters, this one has U+0000\n"},
		"not UTF-8":          {head + "a\xff,1\nc,2\n", "2: is not UTF-8\n3: \"c\"=2\n"},
		"too long":           {head + long + ",1\nc,2\n", "2: " + faultTooLong + "\n3: \"c\"=2\n"},
		"much too long":      {head + strings.Repeat(long, 9) + ",1\nc,2\n", "2: " + faultTooLong + "\n3: \"c\"=2\n"},
		"too long, quoted":   {head + "\"" + long + "\",1\nc,2\n", "2: " + faultUnclosed + "\n3: \"c\"=2\n"},
		"as long as may be":  {head + "a," + long[:maxRecord-3] + "\nc,2\n", "2: score \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"…: " + leaderboard.WantWholeNumber + "\n3: \"c\"=2\n"},
		"one longer":         {head + "a," + long[:maxRecord-2] + "\nc,2\n", "2: " + faultTooLong + "\n3: \"c\"=2\n"},
		"fields":             {head + "a\na,1,2\n,\n", "2: has 1 fields, want 2\n3: has 3 fields, want 2\n4: score \"\": " + leaderboard.WantWholeNumber + "\n"},
		"no member":          {head + ",1\n", "2: a member id has at least 1 byte\n"},
		"long member":        {head + strings.Repeat("é", 33) + ",1\n", "2: a member id has at most 64 bytes, this one has 66\n"},
		"spaces":             {head + " a ,1\na, 1\n", "2: \" a \"=1\n3: score \" 1\": " + leaderboard.WantWholeNumber + "\n"},
		"forms":              {head + "a,100.0\na,1e2\na,-9223372036854775808.0\na,92233720368547758.07E2\n", "2: \"a\"=100\n3: \"a\"=100\n4: \"a\"=-9223372036854775808\n5: \"a\"=9223372036854775807\n"},
		"greatest":           {head + "a,9223372036854775807\na,-9223372036854775808\n", "2: \"a\"=9223372036854775807\n3: \"a\"=-9223372036854775808\n"},
		"optional": {
			"fields.level,score,created_time,member,tiebreak,rank,strict_rank,tied_rank\n7,1,2026-11-20T11:00:00.5+01:00,a,5,x,y,\n,1,,b,5,,,\n,1,,c,,,,\n",
			"2: \"a\"=1 fields map[level:7] at 2026-11-20T10:00:00.500000Z\n3: \"b\"=1 tiebreak 5\n4: \"c\"=1\n",
		},
		"bad optional": {
			"member,score,created_time,tiebreak\na,1,yesterday,\na,1,2026-11-20T11:00:00.1234567Z,\na,1,,1.5\n",
			"2: created_time \"yesterday\": want an RFC 3339 time such as 1970-01-01T00:00:00.000000Z\n3: created_time \"2026-11-20T11:00:00.1234567Z\": times have microseconds at most, six digits of fraction\n4: tiebreak \"1.5\": " + leaderboard.WantWholeNumber + "\n",
		},
		"nothing":               {"", "it is empty: its first line has to name the columns, such as member,score"},
		"no head":               {"a,1\n", "its first line has no column member: it has to name the columns, such as member,score"},
		"no score":              {"member,points\n", "its first line has no column score: it has to name the columns, such as member,score"},
		"semicolons":            {"member;score\na;1\n", "its columns are separated by semicolons; want commas, as in member,score"},
		"tabs":                  {"score\tmember\na\t1\n", "its columns are separated by tabs; want commas, as in member,score"},
		"semicolons too":        {"Member;Score;x\na;1\n", "its columns are separated by semicolons; want commas, as in member,score"},
		"semicolons and quotes": {"\r\n\"member\";\"score\"\r\n\"a\";1\n", "its columns are separated by semicolons; want commas, as in member,score"},
		"some quotes":           {"member;\"Score\"\na;1\n", "its columns are separated by semicolons; want commas, as in member,score"},
		"tabs and quotes":       {"\"score\"\t\"member\"\n", "its columns are separated by tabs; want commas, as in member,score"},
		"one quoted name":       {"\"member\"x,score\n", "its first line, the names of the columns, " + faultBehind},
		"capitals":              {"Member,Score\na,1\n", "column \"Member\" has to be written as \"member\": names of columns have small letters and no spaces"},
		"a space":               {"member, score\na,1\n", "column \" score\" has to be written as \"score\": names of columns have small letters and no spaces"},
		"capitals too":          {"member,score,TieBreak\na,1\n", "column \"TieBreak\" has to be written as \"tiebreak\": names of columns have small letters and no spaces"},
		"gzip":                  {"\x1f\x8b\x08\x00", "it is compressed with gzip: zcat FILE | leaderboard import BOARD -"},
		"a workbook":            {"PK\x03\x04\x14", "it is a zip archive, as a workbook of a spreadsheet (.xlsx, .ods) is too: save the sheet as CSV in UTF-8, with commas"},
		"unknown column":        {"member,score,Level\n", "column Level is not known: want member and score, and may be tiebreak, created_time, metadata, fields.NAME; strict_rank, tied_rank and rank are passed over"},
		"column twice":          {"member,score,score\n", "column score is there twice"},
		"broken head":           {"member,\"score\n", "its first line, the names of the columns, " + faultUnclosed},
	} {
		if got := readImport(strings.NewReader(c.in), client.FormatCSV); got != c.want {
			t.Errorf("%s: got\n%.600s\nwant\n%.600s", name, got, c.want)
		}
	}
	for _, score := range []string{"1.5", "1e-3", "1e19", "0x10", "007", "+5", "1_000", "9223372036854775808", "-9223372036854775809", "NaN", "five", "-", "--1", "１"} {
		if got, want := readImport(strings.NewReader(head+"a,"+score), client.FormatCSV), "2: score \""+score+"\": "+leaderboard.WantWholeNumber+"\n"; got != want {
			t.Errorf("got %s want %s", got, want)
		}
	}
}

// lines are n lines of a result.
func lines(from, n int, text string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d: %s\n", from+i, text)
	}
	return b.String()
}

func TestReadJSONLines(t *testing.T) {
	long := strings.Repeat("x", maxRecord)
	for name, c := range map[string]struct{ in, want string }{
		"plain":       {`{"member":"a","score":1}` + "\r\n\n" + ` {"score":-2, "member":"b"} `, "1: \"a\"=1\n3: \"b\"=-2\n"},
		"mark":        {byteOrder + `{"member":"a","score":1}`, "1: \"a\"=1\n"},
		"all":         {`{"strict_rank":1,"tied_rank":1,"rank":"x","member":"a\u20ac","score":1,"tiebreak":5,"created_time":"2026-11-20T11:00:00Z"}`, "1: \"a€\"=1 tiebreak 5 at 2026-11-20T11:00:00.000000Z\n"},
		"fields":      {`{"member":"a","score":1,"tiebreak":5,"fields":{"level":7}}`, "1: \"a\"=1 fields map[level:7]\n"},
		"forms":       {`{"member":"a","score":100.0,"tiebreak":"-1e2"}` + "\n" + `{"member":"a","score":"9223372036854775807","fields":{"x":"7.0","y":1e1}}`, "1: \"a\"=100 tiebreak -100\n2: \"a\"=9223372036854775807 fields map[x:7 y:10]\n"},
		"nulls":       {`{"member":"a","score":1,"tiebreak":null,"fields":null,"created_time":null}`, "1: \"a\"=1\n"},
		"no member":   {`{"score":1}` + "\n{\"member\":null,\"score\":1}", "1: has no member\n2: has no member\n"},
		"no score":    {`{"member":"a"}` + "\n{\"member\":\"a\",\"score\":null}", "1: has no score\n2: has no score\n"},
		"unknown":     {`{"member":"a","score":1,"points":2}`, "1: points is not known\n"},
		"other case":  {`{"Member":"a","score":1}`, "1: Member is not known\n"},
		"twice":       {`{"member":"a","score":1,"score":2}`, "1: is not valid JSON at byte 24: duplicate object member name\n"},
		"types":       {`{"member":1,"score":1}` + "\n" + `{"member":"a","score":"x"}` + "\n" + `{"member":"a","score":1,"created_time":5}` + "\n[]\n5\n", "1: member: want a string\n2: score: " + leaderboard.WantWholeNumber + "\n3: created_time: want an RFC 3339 time in a string, with six digits of fraction at most\n4: want an object with member and score\n5: want an object with member and score\n"},
		"bad fields":  {`{"member":"a","score":1,"fields":[]}` + "\n" + `{"member":"a","score":1,"fields":{"l":1.5}}` + "\n" + `{"member":"a","score":1,"fields":{"l":null}}`, "1: fields: want an object\n2: fields/l: " + leaderboard.WantWholeNumber + "\n3: fields/l: " + leaderboard.WantWholeNumber + "\n"},
		"two":         {`{"member":"a","score":1}{"member":"b","score":2}` + "\n" + `{"member":"c","score":3}`, "1: is not valid JSON at byte 24: invalid character '{' after top-level value\n2: \"c\"=3\n"},
		"cut":         {`{"member":"a","sco`, "1: is not valid JSON at byte 18: unexpected EOF\n"},
		"NUL":         {"{\"member\":\"a\x00\",\"score\":1}", "1: is not valid JSON at byte 12: invalid character '\\x00' in string (expecting non-control character)\n"},
		"not UTF-8":   {"{\"member\":\"a\xff\",\"score\":1}", "1: is not valid JSON at byte 12: invalid UTF-8\n"},
		"surrogate":   {`{"member":"\ud800","score":1}`, "1: is not valid JSON at byte 11: invalid surrogate pair `\\ud800\",\"sco` in string\n"},
		"too long":    {`{"member":"` + long + `","score":1}` + "\n" + `{"member":"c","score":3}`, "1: " + faultTooLong + "\n2: \"c\"=3\n"},
		"long member": {`{"member":"` + long[:65] + `","score":1}`, "1: a member id has at most 64 bytes, this one has 65\n"},
		"nothing":     {"", ""},
	} {
		if got := readImport(strings.NewReader(c.in), client.FormatJSONL); got != c.want {
			t.Errorf("%s: got\n%.600s\nwant\n%.600s", name, got, c.want)
		}
	}
	for _, score := range []string{"1.5", "1e-3", "9223372036854775808", "-9223372036854775809", `"five"`, `"1.5"`, `""`, "true", "[1]"} {
		if got, want := readImport(strings.NewReader(`{"member":"a","score":`+score+`}`), client.FormatJSONL), "1: score: "+leaderboard.WantWholeNumber+"\n"; got != want {
			t.Errorf("%s: got %s want %s", score, got, want)
		}
	}
}

// TestReadInPieces: the result does not depend on the pieces in which a file arrives.
func TestReadInPieces(t *testing.T) {
	pieces := []string{
		"a,1", "\n", "\n", "\r\n", "\r", "\"", ",", "b", byteOrder, `{"member":"a","score":1}`, "{", "}", "\x00", "\xff",
		strings.Repeat("y", maxRecord-3), strings.Repeat("z,1\n", 1000),
	}
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		format := []string{client.FormatCSV, client.FormatJSONL}[seed%2]
		var b strings.Builder
		if format == client.FormatCSV {
			b.WriteString("member,score\n")
		}
		for range r.IntN(30) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		in := b.String()
		whole := readImport(strings.NewReader(in), format)
		if half := readImport(iotest.HalfReader(strings.NewReader(in)), format); half != whole {
			t.Fatalf("seed %d: as a whole\n%.500s\nin pieces\n%.500s", seed, whole, half)
		}
		if bytes := readImport(iotest.DataErrReader(iotest.OneByteReader(strings.NewReader(in))), format); bytes != whole {
			t.Fatalf("seed %d: as a whole\n%.500s\nbyte by byte\n%.500s", seed, whole, bytes)
		}
	}
}

// endless is a line without an end.
type endless struct{ left int }

func (e *endless) Read(b []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(b), e.left)
	for i := range n {
		b[i] = 'x'
	}
	e.left -= n
	return n, nil
}

// TestReadHugeLine: a very long line takes no more memory than a short one.
func TestReadHugeLine(t *testing.T) {
	for _, format := range []string{client.FormatCSV, client.FormatJSONL} {
		for _, start := range []string{"", "\""} {
			head := ""
			if format == client.FormatCSV {
				head = "member,score\n"
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := readImport(io.MultiReader(strings.NewReader(head+start), &endless{64 << 20}), format)
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 8<<20 || !strings.Contains(got, ": ") || strings.Count(got, "\n") != 1 {
				t.Errorf("%s %q: %d bytes allocated, %.200s", format, start, took, got)
			}
		}
	}
}

func FuzzCSVRecord(f *testing.F) {
	for _, seed := range []string{"a,1\n", "\"a\"\"b\",1\r\n", "\"", "a\"", "\r", "a\r\nb"} {
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, atEnd bool) {
		fields, size, fault := csvRecord(b, atEnd, nil)
		if fault != "" {
			return
		}
		if size > len(b) || len(b) > 0 && size == 0 || len(fields) == 0 {
			t.Fatalf("%q: %d fields of %d bytes", b, len(fields), size)
		}
		var again []byte
		for i, field := range fields {
			if i > 0 {
				again = append(again, ',')
			}
			again = append(append(append(again, '"'), strings.ReplaceAll(string(field), `"`, `""`)...), '"')
		}
		same, _, fault := csvRecord(append(again, '\n'), false, nil)
		if fmt.Sprintf("%q", same) != fmt.Sprintf("%q", fields) || fault != "" {
			t.Fatalf("%q is %q, written again %q, %s", b, fields, same, fault)
		}
	})
}
