//go:build windows || aix || solaris || illumos

package dash

import "os"

// inForeground returns true: these systems do not tell.
func inForeground(*os.File) bool { return true }
