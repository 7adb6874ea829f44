// Package itself is for tests that run their own program as another process.
package itself

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// Need skips the test if the test's program cannot be run as another process, as where an emulator
// for another processor runs it.
func Need(t testing.TB) {
	t.Helper()
	if err := exec.Command(os.Args[0], "-test.run=^$").Run(); errors.Is(err, syscall.ENOEXEC) {
		t.Skip("an emulator runs this program: it cannot run itself")
	}
}
