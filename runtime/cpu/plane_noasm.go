//go:build !amd64 || noasm

package cpu

func (p *pool) planes(from, planes int, y span, across *axis) bool { return false }
