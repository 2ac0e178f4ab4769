package httpapi

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"leaderboard"
)

// boardJSON is a board as it is shown: its name, all its rules, its times.
type boardJSON struct {
	Name              string             `json:"name"`
	leaderboard.Rules                    // inlined
	CreatedTime       leaderboard.Micros `json:"created_time"`
	UpdatedTime       leaderboard.Micros `json:"updated_time"`
}

func showBoard(b *leaderboard.Board) boardJSON {
	return boardJSON{b.Name, b.Rules, b.CreatedTime, b.UpdatedTime}
}

// getBoard answers GET /v1/boards/{board}.
func getBoard(c *call) error {
	name, err := c.boardName()
	if err != nil {
		return err
	}
	b, err := c.api.cfg.Boards.Board(c.ctx, name)
	if err != nil {
		return err
	}
	if err := c.mayRead(&b); err != nil {
		return err
	}
	return c.sendJSON(http.StatusOK, showBoard(&b))
}

// putBoard answers PUT /v1/boards/{board}: 201 when the board is new.
func putBoard(c *call) error {
	name := c.pathValue("board")
	if broken := leaderboard.AsRule(leaderboard.CheckBoardName(name)); broken != nil {
		return refuse(broken.Code, "", inputError{Parameter: "board", Detail: broken.Detail})
	}
	// What is left out has its default; what is given as zero is checked like any other value.
	rules := leaderboard.Rules{}.WithDefaults()
	if err := c.decode(&rules, false, hollowRules(), json.WithUnmarshalers(json.UnmarshalFromFunc(defaultField))); err != nil {
		return err
	}
	if err := c.checkRules(rules); err != nil {
		return err
	}
	b, created, err := c.api.cfg.Boards.PutBoard(c.ctx, name, rules)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
		c.w.Header().Set("Location", "/v1/boards/"+name)
	}
	return c.sendJSON(status, showBoard(&b))
}

func hollowRules() *hollow {
	return &hollow{
		null:  []string{"starts_at", "ends_at", "min_score", "max_score", "max_delta", "derive", "weight", "weights"},
		value: []string{"time_zone", "board", "window", "period", "last", "op", "aggregate"},
	}
}

func (c *call) checkRules(rules leaderboard.Rules) error {
	var fields []leaderboard.FieldError
	if broken := leaderboard.AsRule(rules.Check()); broken != nil {
		fields = broken.Fields
	}
	if len(rules.Windows) == 0 {
		fields = append(fields, leaderboard.FieldError{Pointer: "/windows", Detail: "want at least one window"})
	}
	fields = append(fields, c.api.cfg.CheckRules(rules)...)
	if len(fields) == 0 {
		return nil
	}
	return refuse(leaderboard.CodeInvalidBoard, "", fieldErrors(fields)...)
}

// deleteBoard answers DELETE /v1/boards/{board}.
func deleteBoard(c *call) error {
	name, err := c.boardName()
	if err != nil {
		return err
	}
	if err := c.api.cfg.Boards.DeleteBoard(c.ctx, name); err != nil {
		return err
	}
	c.status = http.StatusNoContent
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// Bounds of the lists of boards, periods and runs.
const (
	defaultList = 100
	maxList     = 1000
	// maxScan bounds how many pages of boards one request looks through for those that the caller may see.
	maxScan = 10
)

// labels are the labels that the boards asked about are to have, none when the parameter is not given.
func (c *call) labels() leaderboard.Labels {
	text := c.text("labels")
	if text == "" {
		return nil
	}
	labels, err := leaderboard.ParseLabels(text)
	if err != nil {
		c.reject("labels", err.Error())
	}
	return labels
}

// listBoards answers GET /v1/boards, all of them or those with given labels. Private boards are listed to those who may read them; a page may therefore hold
// fewer boards than limit, and still have a next one.
func listBoards(c *call) error {
	limit := int(c.integer("limit", defaultList, 1, maxList))
	labels := c.labels()
	of := list{"boards", 0}
	var after string
	if cursor := c.text("cursor"); cursor != "" {
		var ok bool
		if after, ok = of.after(cursor); !ok {
			c.bad = append(c.bad, badCursor())
		}
	}
	if err := c.badInput(); err != nil {
		return err
	}
	out := struct {
		Boards []boardJSON `json:"boards"`
		Next   string      `json:"next_cursor,omitempty"`
	}{Boards: []boardJSON{}}
	for range maxScan {
		// One more than fits tells whether there is a next page.
		boards, err := c.api.cfg.Boards.BoardsLabelled(c.ctx, labels, after, limit+1)
		if err != nil {
			return err
		}
		for i := range boards {
			if c.mayRead(&boards[i]) != nil {
				after = boards[i].Name
				continue
			}
			if len(out.Boards) == limit {
				out.Next = of.cursor(after)
				return c.sendJSON(http.StatusOK, out)
			}
			out.Boards = append(out.Boards, showBoard(&boards[i]))
			after = boards[i].Name
		}
		if len(boards) <= limit {
			return c.sendJSON(http.StatusOK, out)
		}
	}
	out.Next = of.cursor(after)
	return c.sendJSON(http.StatusOK, out)
}
