//go:build !unix

package serve

import "os"

// notifyReload does nothing: the system does not have the signal.
func notifyReload(chan<- os.Signal) {}
