package leaderboard

// Verification is the outcome of comparing a period's copy with the truth at one seq.
type Verification struct {
	Equal      bool
	Seq        int64       // the state at which both were compared
	Checked    int64       // entries compared; 0 with Equal: there is no copy, so none that could be wrong
	Difference *Difference // the first, best rank first; nil when Equal and when the copy as a whole is not usable
	Detail     string      // what is wrong, in words; "" when Equal
}

// Difference is one place where a copy and the truth disagree.
type Difference struct {
	Rank  int64  // strict
	Copy  *Entry // nil: the copy ends before it
	Truth *Entry // nil: the truth ends before it
}
