package gen

import (
	"slices"
	"strings"
)

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
