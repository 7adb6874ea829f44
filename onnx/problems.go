package onnx

import (
	"errors"
	"fmt"
	"strings"
)

// maxProblems bounds how many problems of a model are reported.
const maxProblems = 100

// problems collects what is wrong with a model.
type problems struct {
	file string
	errs []error
	more int
}

func (p *problems) add(format string, args ...any) {
	if len(p.errs) >= maxProblems {
		p.more++
		return
	}
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", "; ")
	p.errs = append(p.errs, fmt.Errorf("%s: %s", p.file, text))
}

func (p *problems) err() error {
	if p.more > 0 {
		return errors.Join(append(p.errs, fmt.Errorf("%s: %d more problems", p.file, p.more))...)
	}
	return errors.Join(p.errs...)
}
