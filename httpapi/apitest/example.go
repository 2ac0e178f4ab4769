package apitest

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// OperationOf returns the id of a route in openapi.yaml.
func OperationOf(method, path string) string {
	doc, _ := Document()
	return doc.Paths.Value(path).GetOperation(method).OperationID
}

// Examples returns a line for a shell for each operation of openapi.yaml, by the ids of the operations.
func Examples() map[string]string { return contract().Examples() }

// RunExample runs a line for a shell, as a reader would after filling in the server and a key for admins.
func (e *Env) RunExample(line string) {
	e.T.Helper()
	if got := e.Do(curlOf(e.T, line)); got.Status >= 400 {
		e.T.Errorf("%s\n%d %s", line, got.Status, got.Body)
	}
}

// curlOf reads a line for a shell, with the values of $SERVER and $KEY.
func curlOf(t testing.TB, line string) Ask {
	t.Helper()
	words := regexp.MustCompile(`"[^"]*"|'[^']*'|[^\s"'\\]+`).FindAllString(line, -1)
	for i, w := range words {
		words[i] = strings.NewReplacer("$SERVER", "", "$KEY", AdminKey).Replace(strings.Trim(w, `"'`))
	}
	a := Ask{Method: "GET", Header: http.Header{}}
	for i := 1; i < len(words); i++ {
		switch words[i] {
		case "-N":
		case "-X", "-H", "-d":
			option := words[i]
			i++
			switch value := words[i]; option {
			case "-X":
				a.Method = value
			case "-H":
				name, value, _ := strings.Cut(value, ": ")
				a.Header.Set(name, value)
			case "-d":
				a.Body = value
				if a.Method == "GET" {
					a.Method = "POST"
				}
			}
		default:
			if a.Path != "" || words[0] != "curl" {
				t.Fatalf("this is no call of curl: %s", line)
			}
			a.Path = words[i]
		}
	}
	return a
}
