//go:build unix || windows

package dash

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/burngen/burngen/runtime/dash/internal/progress"
	"github.com/burngen/burngen/runtime/learn"
)

// The interval between frames of a dashboard.
const (
	often  = time.Second / 10
	seldom = time.Second / 2 // on a line that needs long for a picture
)

type tick struct{}

// model is the state of the dashboard in Bubble Tea. It works on copies of the run's state
// (frames), so that training never waits for it.
type model struct {
	run *progress.Run
	// nil if the run is only watched; may return nil
	control func() learn.Controls
	// ends the program at once
	giveUp func()
	// time between two frames
	interval func() time.Duration
	screen
	frame     *progress.Frame
	paused    bool
	finishing bool // the user asked the run to end
}

func newModel(run *progress.Run, ascii bool, control func() learn.Controls) model {
	m := model{run: run, control: control, giveUp: func() {}, interval: func() time.Duration { return often }}
	m.screen = screen{w: 80, h: 24, ascii: ascii}
	return m.look()
}

// Init implements [tea.Model].
func (m model) Init() tea.Cmd { return m.next() }

// next returns a command that sends a tick after the interval.
func (m model) next() tea.Cmd {
	return tea.Tick(m.interval(), func(time.Time) tea.Msg { return tick{} })
}

func (m model) look() model {
	m.frame = m.run.Frame(m.tab, 16)
	if m.frame.Tab >= 0 {
		m.tab = m.frame.Tabs[m.frame.Tab]
	}
	m.keys = hintsOf(m.controls() != nil)
	m.state, m.ended = "", ""
	switch {
	case m.frame.Stopped != nil:
		m.state, m.dialog = "stopped", false
		m.ended = "the run has stopped; press q to leave"
		if m.control != nil {
			m.ended = "the run has stopped; press any key"
		}
	case m.finishing:
		m.state = "stopping"
	case m.paused:
		m.state = "paused"
	}
	return m
}

func (m model) controls() learn.Controls {
	if m.control == nil {
		return nil
	}
	return m.control()
}

func hintsOf(controls bool) []hint {
	keys := []hint{
		{"←→", "metric", "choose a metric"},
		{"↑↓", "split", "show all data, or only training, validation or test data"},
		{"f", "recent", "show the whole run, or the last values"},
		{"l", "log", "logarithmic scale"},
		{"s", "smooth", "smooth the curves: not, a little, a lot"},
	}
	if controls {
		keys = append(keys, hint{"c", "checkpoint", "save a checkpoint now"}, hint{"p", "pause", "pause, or go on"})
	}
	return append(keys, hint{"q", "quit", "end the run, or leave"}, hint{"?", "help", "show this help, or hide it"})
}

// View implements [tea.Model].
func (m model) View() tea.View {
	g, _ := draw(m.frame, m.screen)
	v := tea.NewView(g.styled())
	v.AltScreen, v.MouseMode = true, tea.MouseModeCellMotion
	return v
}

// Update implements [tea.Model].
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tick:
		m = m.look()
		if m.frame.Stopped != nil && m.finishing {
			return m, tea.Quit
		}
		return m, m.next()
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
	case tea.MouseClickMsg:
		return m.click(msg.X, msg.Y)
	case tea.KeyPressMsg:
		return m.press(msg.String())
	}
	return m, nil
}

// click selects the tab at column x and row y.
func (m model) click(x, y int) (tea.Model, tea.Cmd) {
	if m.help || m.dialog {
		return m, nil
	}
	_, tabs := draw(m.frame, m.screen)
	for _, t := range tabs {
		if y == t.y && x >= t.x0 && x < t.x1 {
			m.tab = t.tab
			return m.look(), nil
		}
	}
	return m, nil
}

func (m model) press(key string) (tea.Model, tea.Cmd) {
	m = m.look()
	switch {
	case key == "ctrl+c":
		return m.interrupt()
	case key == "ctrl+z":
		return m, tea.Suspend
	case m.frame.Stopped != nil && (m.control != nil || key == "q" || key == "esc"):
		return m, tea.Quit
	case m.dialog:
		return m.answer(key)
	case m.help:
		m.help = false
		return m, nil
	}
	switch key {
	case "?":
		m.help = true
	case "q":
		if m.controls() == nil {
			return m, tea.Quit
		}
		m.dialog = true
	case "c":
		return m, m.ask(func(c learn.Controls) { c.Save() })
	case "p":
		return m.pause()
	default:
		m = m.choose(key)
	}
	return m.look(), nil
}

func (m model) choose(key string) model {
	tabs := m.frame.Tabs
	switch key {
	case "left", "right", "tab", "shift+tab":
		if n := len(tabs); n > 0 {
			step := 1
			if key == "left" || key == "shift+tab" {
				step = n - 1
			}
			m.tab = tabs[(m.frame.Tab+step)%n]
		}
	case "up", "down":
		order := append([]learn.Split{""}, m.frame.Splits()...)
		step := 1
		if key == "up" {
			step = len(order) - 1
		}
		m.split = order[(max(0, slices.Index(order, m.split))+step)%len(order)]
	case "f":
		m.recent = !m.recent
	case "l":
		m.log = !m.log
	case "s":
		m.smooth = (m.smooth + 1) % len(smoothing)
	default:
		if len(key) == 1 && key[0] >= '1' && int(key[0]-'1') < min(9, len(tabs)) {
			m.tab = tabs[key[0]-'1']
		}
	}
	return m
}

// answer handles a key in the dialog that asks how to end the run.
func (m model) answer(key string) (tea.Model, tea.Cmd) {
	switch key {
	case "s", "t":
		m.dialog, m.finishing = false, true
		return m.look(), m.ask(func(c learn.Controls) { c.Finish(key == "s") })
	case "esc", "q", "n":
		m.dialog = false
	}
	return m, nil
}

func (m model) pause() (tea.Model, tea.Cmd) {
	if m.controls() == nil {
		return m, nil
	}
	m.paused = !m.paused
	paused := m.paused
	return m.look(), m.ask(func(c learn.Controls) { c.Pause(paused) })
}

// interrupt handles Ctrl-C. If the run is only watched or has stopped, it closes the dashboard.
// Otherwise it asks the run to end after the batch. If it has already asked, or if there are no
// controls, it ends the program.
func (m model) interrupt() (tea.Model, tea.Cmd) {
	switch {
	case m.control == nil, m.frame.Stopped != nil:
		return m, tea.Quit
	case m.controls() == nil, m.finishing:
		giveUp := m.giveUp
		return m, func() tea.Msg { giveUp(); return nil }
	}
	m.dialog, m.finishing = false, true
	return m.look(), m.ask(func(c learn.Controls) { c.Finish(true) })
}

// ask returns a command that calls `what` with the controls of the run. It returns nil if there are
// no controls.
func (m model) ask(what func(learn.Controls)) tea.Cmd {
	c := m.controls()
	if c == nil {
		return nil
	}
	return func() tea.Msg { what(c); return nil }
}
