//go:build unix

package serve

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyReload makes c receive SIGHUP.
func notifyReload(c chan<- os.Signal) { signal.Notify(c, syscall.SIGHUP) }
