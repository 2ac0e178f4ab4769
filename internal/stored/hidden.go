package stored

// States of a row of hidden_members.
const (
	StateHiding    = "hiding"    // hidden; visible entries are still to be moved
	StateHidden    = "hidden"    // hidden, and everything is moved
	StateRestoring = "restoring" // not hidden; entries are still to be moved back, then the row goes
)
