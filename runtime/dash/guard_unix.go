//go:build unix && !aix && !solaris && !illumos

package dash

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// guard is a process that restores the terminal if the program dies without doing so: a panic on any
// goroutine ends a program at once, and so does SIGKILL. It is a shell that waits for the end of a pipe.
// The program's last words come through the pipe, and are written to the restored screen.
type guard struct {
	pipe *os.File
	cmd  *exec.Cmd
}

// guardScript takes the modes of the terminal, as stty writes them, and the terminal as file 3. It writes
// the sequences of xterm (XTerm Control Sequences, "CSI ? Pm l") that leave the other screen, show the
// cursor, and end reports of the mouse, marks of pasted text and extended keys.
const guardScript = `words=$(cat)
[ "$words" = "` + allIsWell + `" ] && exit
stty "$1" <&3
printf '\033[?1049l\033[?25h\033[?1002l\033[?1003l\033[?1006l\033[?2004l\033[?2027l\033[>4m\033[<u' >&3
[ -z "$words" ] || printf '%s\n' "$words" >&3`

const allIsWell = "the terminal is restored"

// startGuard starts a guard of a terminal. It returns nil if the system has no shell or no stty.
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

// release ends the guard. The terminal stays as it is.
func (g *guard) release() {
	io.WriteString(g.pipe, allIsWell)
	g.pipe.Close()
	g.cmd.Wait()
}

// lastWords returns the file for the text of a panic that ends the program.
func (g *guard) lastWords() *os.File { return g.pipe }
