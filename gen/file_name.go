package gen

import (
	"slices"
	"strings"
)

// devices lists the file names that Windows reserves for devices, whatever the extension.
var devices = strings.Fields("CON PRN AUX NUL COM1 COM2 COM3 COM4 COM5 COM6 COM7 COM8 COM9 LPT1 LPT2 LPT3 LPT4 LPT5 LPT6 LPT7 LPT8 LPT9")

// maxFileName is the maximum length, in bytes, of the part of a file name that is derived from text in a model. A
// longer part is cut off.
const maxFileName = 100

// FileName converts `text` to a file name without extension. The name is valid on every system, and in a pattern of
// the directive go:embed. It replaces all characters except ASCII letters, digits, ".", "_" and "-" by underscores.
// It removes dots, underscores and hyphens at both ends, and shortens the name to maxFileName bytes. If nothing is
// left, it returns fallback. It puts fallback and an underscore before a name that Windows reserves for a device,
// such as CON.
func FileName(text, fallback string) string {
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
		return fallback
	case slices.Contains(devices, device):
		return fallback + "_" + name
	}
	return name
}
