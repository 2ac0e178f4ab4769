package leaderboard

// MaxAcrossBoards is how many boards one request to submit across boards may name.
const MaxAcrossBoards = 50

// CodeBoardNotFound rejects one submission of a request across boards; a request to one board fails as a whole.
const CodeBoardNotFound = "board-not-found"

// BoardSubmission is one score sent for a member of a board.
type BoardSubmission struct {
	Board string
	Submission
}

// BoardResult is the outcome of one BoardSubmission.
type BoardResult struct {
	Board string
	Result
}

// BoardSeqs is the state of one board after a write, as in a Receipt.
type BoardSeqs struct {
	Seq  int64            // of the board's first window
	Seqs map[Window]int64 // by window, when the board has several
}

// AcrossReceipt answers a submit across boards: one result per submission, in order, and the state of every board that
// was named, exists and takes submissions: a derived board does not, so it has no state of the request.
type AcrossReceipt struct {
	Results []BoardResult
	Boards  map[string]BoardSeqs
}

// NoBoard is why a submission to a board that does not exist is rejected.
func NoBoard() *RuleError {
	return &RuleError{Code: CodeBoardNotFound, Detail: "No board has this name."}
}

// NotToDerived is why a submission to a derived board is rejected.
func NotToDerived() *RuleError {
	return &RuleError{Code: CodeDerivedBoard, Detail: "the entries of a derived board follow those of its sources"}
}
