package leaderboard

// Verification is the outcome of comparing a period's copy with the truth at one seq.
type Verification struct {
	Equal      bool
	Seq        int64       // the state at which both were compared; MySQL's when there is no copy to compare
	Checked    int64       // entries compared
	Difference *Difference // the first, best rank first; nil when Equal and when the copy as a whole is not usable
	Detail     string      // what is wrong, in words; when Equal NoCopy or ""
}

// NoCopy is the detail of a verification that found no copy, so none that could be wrong.
const NoCopy = "there is no copy"

// Difference is one place where a copy and the database disagree.
type Difference struct {
	Rank     int64  // strict
	Copy     *Entry // nil: the copy ends before it
	Database *Entry // nil: the database ends before it
}
