//go:build !linux

package rt

// yield does nothing: there is no call for it on this system.
func yield() {}
