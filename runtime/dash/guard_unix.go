//go:build unix && !aix && !solaris && !illumos

package dash

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// guard is a shell process that restores the terminal if the program cannot do so: if a panic on
// any goroutine, or SIGKILL, ends the program. The shell waits until the program's end of a pipe is
// closed. It then restores the terminal, and prints the text that it got from the pipe, such as the
// text of a panic.
type guard struct {
	pipe *os.File
	cmd  *exec.Cmd
}

// guardScript is the script of a guard. Its first argument is the terminal's modes, as stty prints
// them. Its file descriptor 3 is the terminal. The script writes control sequences of xterm (XTerm
// Control Sequences, "CSI ? Pm l"): they leave the alternate screen, show the cursor, and disable
// mouse reports, bracketed paste and extended keys.
const guardScript = `words=$(cat)
[ "$words" = "` + allIsWell + `" ] && exit
stty "$1" <&3
printf '\033[?1049l\033[?25h\033[?1002l\033[?1003l\033[?1006l\033[?2004l\033[?2027l\033[>4m\033[<u' >&3
[ -z "$words" ] || printf '%s\n' "$words" >&3`

const allIsWell = "the terminal is restored"

// startGuard starts a guard of a terminal. It returns nil if the guard cannot start, for example
// because the system has no shell or stty.
func startGuard(in, out *os.File) *guard {
	stty := exec.Command("stty", "-g")
	stty.Stdin = in
	modes, err := stty.Output()
	if err != nil {
		return nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	defer r.Close()
	cmd := exec.Command("sh", "-c", guardScript, "sh", strings.TrimSpace(string(modes)))
	cmd.Stdin, cmd.ExtraFiles = r, []*os.File{out}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // keys and signals of the terminal are not for it
	if cmd.Start() != nil {
		w.Close()
		return nil
	}
	return &guard{w, cmd}
}

func (g *guard) release() {
	io.WriteString(g.pipe, allIsWell)
	g.pipe.Close()
	g.cmd.Wait()
}

// lastWords returns a file. If a panic ends the program, the text of the panic is written to it.
func (g *guard) lastWords() *os.File { return g.pipe }
