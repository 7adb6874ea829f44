//go:build !unix

package serve

import "os"

// notifyReload does nothing: this system does not have SIGHUP.
func notifyReload(chan<- os.Signal) {}
