package transfer

import "testing"

// TestWhatIsImported: a bar that begins after a part was imported says that it is for the rest.
func TestWhatIsImported(t *testing.T) {
	im := &importing{Import: Import{Board: "race"}}
	if got, want := im.subject(), "importing into race"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	im.done.Offset, im.done.Line = 642_000, 47_002
	if got, want := im.subject(), "importing the rest, from line 47,002 on, into race"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
