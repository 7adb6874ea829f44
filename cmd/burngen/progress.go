package main

import (
	"io"
	"os"

	"github.com/schollz/progressbar/v3"
)

// progress shows the progress of a command. bar is nil unless the output is a terminal.
type progress struct{ bar *progressbar.ProgressBar }

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	if !ok {
		return &progress{}
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &progress{}
	}
	return &progress{progressbar.NewOptions(-1, progressbar.OptionSetWriter(f), progressbar.OptionClearOnFinish(), progressbar.OptionSpinnerType(14))}
}

func (p *progress) stage(name string) {
	if p.bar != nil {
		p.bar.Describe(name)
		p.bar.Add(1)
	}
}

func (p *progress) step(name string, done, total int) {
	if p.bar == nil {
		return
	}
	p.bar.ChangeMax(max(total, 1))
	p.bar.Describe(name)
	p.bar.Set(done)
}

// clear removes the bar from the screen, so that a line can be printed.
func (p *progress) clear() {
	if p.bar != nil {
		p.bar.Clear()
	}
}

// end finishes the bar and removes it from the screen.
func (p *progress) end() {
	if p.bar != nil {
		p.bar.Finish()
	}
}
