package leaderboard

// Window is a way to divide time into periods.
type Window string

// WindowAllTime has one period without an end. The others follow the calendar in the board's time zone; weeks begin on
// Monday, as in ISO 8601. WindowSeason has the periods that the board lists.
const (
	WindowAllTime Window = "all_time"
	WindowHour    Window = "hour"
	WindowDay     Window = "day"
	WindowWeek    Window = "week"
	WindowMonth   Window = "month"
	WindowQuarter Window = "quarter"
	WindowYear    Window = "year"
	WindowSeason  Window = "season"
)

// Names that stand for a period.
const (
	CurrentPeriod  = "current"
	PreviousPeriod = "previous"
)

// Windows returns all windows that a board can have.
func Windows() []Window {
	return []Window{WindowAllTime, WindowHour, WindowDay, WindowWeek, WindowMonth, WindowQuarter, WindowYear, WindowSeason}
}
