//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd && !windows

package rt

func machineMemory() int64 { return 0 }
