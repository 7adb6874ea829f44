// Package itself is for tests that run their own program as another process.
package itself

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// Need skips the test if the test's program cannot start itself as another process. This happens if an emulator
// runs a program for another processor.
func Need(t testing.TB) {
	t.Helper()
	if err := exec.Command(os.Args[0], "-test.run=^$").Run(); errors.Is(err, syscall.ENOEXEC) {
		t.Skip("an emulator runs this program: it cannot run itself")
	}
}
