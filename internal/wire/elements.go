package wire

import "bytes"

// Outline is the form of a JSON text. Of one that is not valid the numbers are some that grow with it.
type Outline struct {
	Elements int // of the arrays of an object, those inside of their elements left out
	Values   int // of all arrays and objects together
	Depth    int // how many of them are inside of each other
}

// OutlineOf finds it without decoding anything, in time that is linear in the bytes.
func OutlineOf(body []byte) (of Outline) {
	depth, full := 0, false // full: the array under way has an element
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '"':
			if i = endOfString(body, i+1); depth == 2 {
				full = true
			}
		case '[', '{':
			if depth == 2 {
				full = true
			}
			of.Values++
			if depth++; depth == 2 {
				full = false
			}
			of.Depth = max(of.Depth, depth)
		case ']', '}':
			if depth == 2 && full && body[i] == ']' {
				of.Elements++
			}
			depth--
		case ',':
			of.Values++
			if depth == 2 {
				of.Elements++
			}
		case ' ', '\t', '\n', '\r', ':':
		default:
			if depth == 2 {
				full = true
			}
		}
	}
	return of
}

// endOfString returns where a string ends whose first byte is at i.
func endOfString(body []byte, i int) int {
	for i < len(body) {
		next := bytes.IndexByte(body[i:], '"')
		if next < 0 {
			return len(body)
		}
		backslashes := 0
		for at := i + next - 1; at >= i && body[at] == '\\'; at-- {
			backslashes++
		}
		if i += next; backslashes%2 == 0 {
			return i
		}
		i++
	}
	return i
}
