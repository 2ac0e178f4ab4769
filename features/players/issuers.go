package players

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"leaderboard/api"
	"leaderboard/httpapi"
	"leaderboard/internal/wire"
	"leaderboard/leaderboard"
)

// Issuers keeps the issuers of players' tokens. Each change records the caller.
type Issuers interface {
	// PutIssuer creates an issuer of players' tokens or replaces its rules, which have passed their Check;
	// *leaderboard.RuleError. This and all later methods record the caller.
	PutIssuer(ctx context.Context, name string, rules IssuerRules) (i Issuer, created bool, err error)
	// DeleteIssuer ends an issuer with its tokens; ErrIssuerNotFound.
	DeleteIssuer(ctx context.Context, name string) error
	// Issuer finds an issuer; ErrIssuerNotFound.
	Issuer(ctx context.Context, name string) (Issuer, error)
	// Issuers lists up to limit issuers with a name after that one, in the order of their names.
	Issuers(ctx context.Context, after string, limit int) ([]Issuer, error)
}

// issuerHandlers make, show and delete issuers of players' tokens.
type issuerHandlers struct {
	issuers Issuers
	players Registry
}

func (h *issuerHandlers) show(i *Issuer) api.Issuer {
	return api.Issuer{
		Name: i.Name, IssuerRules: api.IssuerRules(i.IssuerRules), PassedOver: h.players.PassedOver(i),
		CreatedTime: i.CreatedTime.Time(), UpdatedTime: i.UpdatedTime.Time(),
	}
}

// issuerBody is the body of PUT /v1/issuers/{name}: rules, and the other members of GET's answer, which are ignored.
type issuerBody struct {
	IssuerRules                // inlined
	Name        jsontext.Value `json:"name"`
	PassedOver  jsontext.Value `json:"passed_over"`
	CreatedTime jsontext.Value `json:"created_time"`
	UpdatedTime jsontext.Value `json:"updated_time"`
}

// issuerName returns the name in the path, or ErrIssuerNotFound for an invalid name.
func issuerName(c *httpapi.Call) (string, error) {
	name := c.Params.PathValue("name")
	if checkIssuerName(name) != nil {
		return "", leaderboard.ErrIssuerNotFound
	}
	return name, nil
}

// put answers PUT /v1/issuers/{name}: 201 when the issuer is new.
func (h *issuerHandlers) put(c *httpapi.Call) error {
	name := c.Params.PathValue("name")
	if broken := leaderboard.AsRule(checkIssuerName(name)); broken != nil {
		return wire.Reject(broken.Code, "", wire.InputError{Parameter: "name", Detail: broken.Detail})
	}
	var body issuerBody
	if err := c.Decode(&body, false, &wire.Emptiness{Opaque: "jwks"}); err != nil {
		return err
	}
	rules := body.IssuerRules.WithDefaults()
	if err := rules.Check(); err != nil {
		return err
	}
	if bad := h.players.CheckIssuer(rules); bad != nil {
		return &leaderboard.RuleError{Code: leaderboard.CodeInvalidIssuer, Detail: "the issuer's rules are not valid", Fields: bad}
	}
	i, created, err := h.issuers.PutIssuer(c.Ctx, name, rules)
	if err != nil {
		return wire.WriteError(err)
	}
	status := http.StatusOK
	if created {
		status = http.StatusCreated
		c.Locate("/v1/issuers/" + name)
	}
	return c.SendJSON(status, h.show(&i))
}

// get answers GET /v1/issuers/{name}.
func (h *issuerHandlers) get(c *httpapi.Call) error {
	name, err := issuerName(c)
	if err != nil {
		return err
	}
	i, err := h.issuers.Issuer(c.Ctx, name)
	if err != nil {
		return err
	}
	return c.SendJSON(http.StatusOK, h.show(&i))
}

// remove answers DELETE /v1/issuers/{name}: its tokens are no longer valid.
func (h *issuerHandlers) remove(c *httpapi.Call) error {
	name, err := issuerName(c)
	if err != nil {
		return err
	}
	if err := h.issuers.DeleteIssuer(c.Ctx, name); err != nil {
		return wire.WriteError(err)
	}
	c.SendNothing(http.StatusNoContent)
	return nil
}

// list answers GET /v1/issuers, in the order of their names.
func (h *issuerHandlers) list(c *httpapi.Call) error {
	limit := int(c.Params.Integer("limit"))
	of := wire.List{Name: "issuers"}
	after := httpapi.AfterCursor(c, of.After)
	if err := c.Params.BadInput(); err != nil {
		return err
	}
	found, err := h.issuers.Issuers(c.Ctx, after, limit+1)
	if err != nil {
		return err
	}
	return httpapi.SendList(c, "issuers", found, limit, h.show, func(last *Issuer) string { return of.Cursor(last.Name) })
}
