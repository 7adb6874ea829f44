package fake

import "syscall"

func thread() int { return syscall.Gettid() }
