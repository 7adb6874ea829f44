//go:build unix

package serve

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyReload sends to c when the process gets SIGHUP.
func notifyReload(c chan<- os.Signal) { signal.Notify(c, syscall.SIGHUP) }
