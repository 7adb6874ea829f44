package gen

import (
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// PackageName derives a package name from the name of a folder. It keeps digits, underscores and ASCII letters, and
// converts the letters to lower case. If this is not a valid package name, it adds "model" at the beginning or the
// end. It returns an error if dir is relative and the working directory is unknown.
func PackageName(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9', r == '_':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return -1
	}, filepath.Base(abs))
	name = strings.TrimSuffix(strings.Trim(name, "_"), "_test")
	if name == "" || !CanName(name) && !token.IsIdentifier(name[:1]) {
		return "model" + name, nil
	}
	if !CanName(name) {
		return name + "model", nil
	}
	return name, nil
}

// CanName reports whether name is a valid name of a generated package.
func CanName(name string) bool {
	return token.IsIdentifier(name) && !slices.Contains([]string{"_", "main", "init"}, name) && !strings.HasSuffix(name, "_test")
}
