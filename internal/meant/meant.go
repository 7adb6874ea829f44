// Package meant suggests a similar name when a user gives an unknown one.
package meant

import (
	"fmt"

	"github.com/burngen/burngen/runtime/rt/keys"
)

// Suffix returns the end of an error message about an unknown name: "; did you mean …?" with the most similar of
// names. The similar name is formatted with the format string `format`. Suffix returns "" if there is no similar
// name.
func Suffix(name string, names []string, format string) string {
	near := keys.Nearest(name, names)
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf("; did you mean "+format+"?", near[0])
}
