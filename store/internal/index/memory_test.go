package index

import "testing"

// TestClearedIndexTakesNoMemory: the bytes of a dropped index are taken off the sum once: an index that is leaving has been
// taken off already.
func TestClearedIndexTakesNoMemory(t *testing.T) {
	t.Parallel()
	x := &Indexes{bytes: 30}
	stays, leaves := &slot{tracker: &Tracker{}, bytes: 10}, &slot{tracker: &Tracker{}, bytes: 5, leaving: true}
	x.clear(stays)
	x.clear(leaves)
	x.clear(stays)
	if x.bytes != 20 || stays.tracker != nil || leaves.tracker != nil || leaves.leaving {
		t.Errorf("%d bytes, want 20; %+v, %+v", x.bytes, stays, leaves)
	}
}
