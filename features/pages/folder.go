package pages

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Folder is how the pages look by the files of one folder.
type Folder struct {
	Face     Face
	Language string // "": no file says it
	Font     string // a file with Options.Font, "" for none
}

// ReadFolder reads how the pages look from the files of a folder: title.txt, accent.txt, header.txt, footer.txt and language.txt with a line each; logo.png,
// .jpg or .webp; font.ttf, .otf or .ttc; and logos, a folder for ReadLogos. Each may be missing. Another file is refused, unless its name begins with a dot.
func ReadFolder(folder string) (out Folder, err error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return out, err
	}
	for _, f := range files {
		if name := f.Name(); !strings.HasPrefix(name, ".") {
			if err := out.read(name, filepath.Join(folder, name)); err != nil {
				return out, err
			}
		}
	}
	return out, nil
}

// read reads the setting in one file.
func (f *Folder) read(name, path string) (err error) {
	switch name {
	case "title.txt":
		f.Face.Title, err = readLine(path, CheckTitle)
	case "accent.txt":
		f.Face.Accent, err = readLine(path, ParseAccent)
	case "footer.txt":
		f.Face.Footer, err = readLine(path, CheckFooter)
	case "header.txt":
		f.Face.Header, err = readLine(path, CheckHeader)
	case "language.txt":
		f.Language, err = readLine(path, CheckLanguage)
	case "logo.png", "logo.jpg", "logo.webp":
		if f.Face.Logo != nil {
			return fmt.Errorf("want one logo, %s is another one", path)
		}
		f.Face.Logo, err = ReadLogo(path)
	case "font.ttf", "font.otf", "font.ttc":
		if f.Font != "" {
			return fmt.Errorf("want one font, %s and %s are two", f.Font, path)
		}
		f.Font = path
	case "logos":
		f.Face.Logos, err = ReadLogos(path)
	default:
		return fmt.Errorf("want title.txt, accent.txt, header.txt, footer.txt, language.txt, logo.png, font.ttf and logos, or some of them, not %s", path)
	}
	return err
}

// readLine reads a file with one line, and parses the line by check.
func readLine[T any](path string, check func(string) (T, error)) (out T, err error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return out, err
	}
	if out, err = check(strings.TrimSpace(string(content))); err != nil {
		return out, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}
