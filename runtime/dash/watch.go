//go:build unix || windows

package dash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/burngen/burngen/runtime/dash/follow"
	"github.com/burngen/burngen/runtime/dash/internal/progress"
)

func watch(ctx context.Context, dir string) error {
	source, err := follow.Open(dir)
	if err != nil {
		return err
	}
	if !isTerminal(os.Stdin, os.Getenv) || !isTerminal(os.Stdout, os.Getenv) {
		return errors.New("a terminal is needed, for input and for output")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	run := progress.New()
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		source.Follow(ctx, 2*often, run)
	}()
	p := tea.NewProgram(newModel(run, needsASCII(os.Getenv), nil), tea.WithInput(os.Stdin), tea.WithOutput(os.Stdout),
		tea.WithoutSignalHandler(), tea.WithFPS(int(time.Second/often)))
	go func() {
		<-ctx.Done()
		p.Quit()
	}()
	_, err = p.Run()
	stop()
	<-followed
	fmt.Print(run.Summary())
	return err
}
