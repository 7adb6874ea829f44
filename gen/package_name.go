package gen

import (
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// PackageName returns the name of the package in a folder: the lower-case ASCII
// letters, digits and underscores of the folder's name, made an identifier that
// a package can have.
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

// CanName reports whether a generated package can be called name.
func CanName(name string) bool {
	return token.IsIdentifier(name) && !slices.Contains([]string{"_", "main", "init"}, name) && !strings.HasSuffix(name, "_test")
}

// devices are names that Windows gives to devices, whatever extension follows.
var devices = strings.Fields("CON PRN AUX NUL COM1 COM2 COM3 COM4 COM5 COM6 COM7 COM8 COM9 LPT1 LPT2 LPT3 LPT4 LPT5 LPT6 LPT7 LPT8 LPT9")

// maxFileName bounds the length of a file name made from a model's text.
const maxFileName = 100

// FileName returns text as the name of a file, without an extension, that every
// system and a go:embed line can have: letters, digits, and a few signs. Text
// that has none of them gives otherwise.
func FileName(text, otherwise string) string {
	name := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, text)
	name = strings.Trim(name, "._-")
	name = strings.TrimRight(name[:min(len(name), maxFileName)], "._-")
	switch device := strings.ToUpper(strings.SplitN(name, ".", 2)[0]); {
	case name == "":
		return otherwise
	case slices.Contains(devices, device):
		return otherwise + "_" + name
	}
	return name
}
