//go:build !unix

package serve

import "os"

func notifyReload(chan<- os.Signal) {}
