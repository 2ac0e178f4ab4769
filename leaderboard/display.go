package leaderboard

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Display is the rule by which people are shown the scores of a board. It changes nothing else: scores are whole
// numbers everywhere.
type Display struct {
	Kind     DisplayKind `json:"kind,omitempty" flag:"display-kind" label:"Scores are" words:"duration,date" doc:"What a score is, a duration in seconds or a date in seconds since 1970; a number when left out or empty."`
	Decimals int         `json:"decimals,omitzero" flag:"display-decimals" label:"Decimals of scores" range:"0,9" default:"0" doc:"How many of the last digits of a score stand behind the point. With 3, the score 83456 is the number 83.456, or the duration 1:23.456."`
	Unit     string      `json:"unit,omitempty" flag:"display-unit" label:"Unit of scores" bytes:"16" doc:"Unit of a number, such as km."`
}

// DisplayKind is the kind of quantity that a board's scores are to people.
type DisplayKind string

// With Decimals 3, the score 83456 is the number 83.456, the duration 1:23.456, or the date 83.456 s after 1970 in UTC.
const (
	DisplayKindNumber   DisplayKind = ""
	DisplayKindDuration DisplayKind = "duration" // seconds
	DisplayKindDate     DisplayKind = "date"     // seconds since 1970
)

func (d *Display) check(fail failFunc) {
	if d == nil {
		return
	}
	if strings.ContainsFunc(d.Unit, unprintable) || strings.TrimSpace(d.Unit) != d.Unit {
		fail("/display/unit", "want printable characters without spaces at the ends")
	}
	if d.Unit != "" && d.Kind != DisplayKindNumber {
		fail("/display/unit", "only numbers have a unit")
	}
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

// Text returns a score as people read it in English: 1,234.5 km, 1:23:45.678, 2026-11-20 13:00:00 UTC. nil shows a whole number.
func (d *Display) Text(score int64) string { return d.TextWith(score, ",", ".") }

// TextWith is Text with the separators of another language: between groups of digits, and before decimals, as in
// 1.234,5 km.
func (d *Display) TextWith(score int64, group, point string) string {
	if d == nil {
		d = &Display{}
	}
	sign, whole, fraction := d.split(score, point)
	switch d.Kind {
	case DisplayKindDuration:
		return sign + clock(whole) + fraction
	case DisplayKindDate:
		return d.date(score, group, point)
	}
	text := sign + grouped(whole, group) + fraction
	if d.Unit != "" {
		text += " " + d.Unit
	}
	return text
}

// split returns the sign of a score, the digits before the point, and the point with the digits after it.
func (d *Display) split(score int64, with string) (sign, whole, fraction string) {
	digits := strconv.FormatInt(score, 10)
	if score < 0 {
		sign, digits = "-", digits[1:]
	}
	if d.Decimals == 0 {
		return sign, digits, ""
	}
	if missing := d.Decimals + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - d.Decimals
	return sign, digits[:point], with + digits[point:]
}

// grouped puts something between groups of three digits.
func grouped(digits, between string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + between + digits[i:]
	}
	return digits
}

// clock returns seconds as 0:07, 1:23 or 1:02:03; hours have as many digits as they need.
func clock(seconds string) string {
	s, _ := strconv.ParseUint(seconds, 10, 64) // 19 digits at most
	two := func(n uint64) string { return string([]byte{byte('0' + n/10), byte('0' + n%10)}) }
	if hours := s / 3600; hours > 0 {
		return strconv.FormatUint(hours, 10) + ":" + two(s/60%60) + ":" + two(s%60)
	}
	return strconv.FormatUint(s/60, 10) + ":" + two(s%60)
}

// date returns a score as a moment; a score beyond every calendar stays a number.
func (d *Display) date(score int64, group, point string) string {
	unit := int64(1)
	for range d.Decimals {
		unit *= 10
	}
	seconds, rest := score/unit, score%unit
	if rest < 0 {
		seconds, rest = seconds-1, rest+unit
	}
	at := time.Unix(seconds, 0).UTC()
	if at.Year() < 0 || at.Year() > 9999 {
		return (&Display{}).TextWith(score, group, point)
	}
	text := at.Format("2006-01-02 15:04:05")
	if d.Decimals > 0 {
		digits := strconv.FormatInt(rest, 10)
		text += "." + strings.Repeat("0", d.Decimals-len(digits)) + digits
	}
	return text + " UTC"
}
