// Package meant suggests the name that a user meant by one that there is not.
package meant

import (
	"fmt"

	"github.com/burngen/burngen/runtime/rt/keys"
)

// Suffix returns the end of a message about a name that is not in a list: "; did you mean
// …?" with the nearest name of the list, as format prints it. It is "" if no name is near.
func Suffix(name string, names []string, format string) string {
	near := keys.Nearest(name, names)
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf("; did you mean "+format+"?", near[0])
}
