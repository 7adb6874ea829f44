//go:build windows || aix || solaris || illumos

package dash

import "os"

// inForeground reports whether the process may change the terminal. On these systems that is not known.
func inForeground(*os.File) bool { return true }
