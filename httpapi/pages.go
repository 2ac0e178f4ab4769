package httpapi

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"net/http"
)

//go:embed web
var webFiles embed.FS

func renderPage(name string, data any) ([]byte, error) {
	t, err := template.ParseFS(webFiles, "web/*.html")
	if err != nil {
		return nil, fmt.Errorf("parse the pages: %w", err)
	}
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, name, data); err != nil {
		return nil, fmt.Errorf("render %s: %w", name, err)
	}
	return out.Bytes(), nil
}

// problemPage answers GET /problems/{code}: what a problem means, from the table it is made from.
func problemPage(c *call) error {
	code := c.pathValue("code")
	for i := range kinds {
		if k := &kinds[i]; k.code == code {
			page, err := renderPage("problem.html", map[string]any{
				"Code": k.code, "Status": k.status, "StatusText": http.StatusText(k.status), "Title": k.title,
				"Detail": k.detail, "Help": k.help, "Retry": k.retry,
			})
			if err != nil {
				return err
			}
			c.sendPage(http.StatusOK, page)
			return nil
		}
	}
	return refuse(codeNotFound, "No problem has this code.")
}
