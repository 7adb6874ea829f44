package load

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/burngen/burngen/gen/config"
	"github.com/burngen/burngen/gen/temporary"
	"github.com/burngen/burngen/ir/nn"
)

// recording is the input for the program that records a description: its folder, the environment of
// the go command, and the sources of the virtual files.
type recording struct {
	dir                string
	env                []string
	glue, main, config []byte
	options            Options
}

// run builds and runs the program that records a description, and returns the contents of the file that the program
// writes. The program is built in the description's module. The sources that the function run adds to the module are
// in a temporary folder. An overlay tells the go command where they are.
func run(ctx context.Context, r *recording) ([]byte, error) {
	tmp, err := temporary.Folder("")
	if err != nil {
		return nil, err
	}
	defer temporary.Remove(tmp)
	overlay, err := r.overlay(tmp)
	if err != nil {
		return nil, err
	}
	out := filepath.Join(tmp, "model.ir")
	c := exec.CommandContext(ctx, "go", "run", "-trimpath=false", "-overlay", overlay, "./"+mainDir)
	c.Dir = r.dir
	c.Env = append(r.env[:len(r.env):len(r.env)], nn.OutEnv+"="+out)
	if r.options.Limit > 0 {
		c.Env = append(c.Env, nn.LimitEnv+"="+r.options.Limit.String())
	}
	var stderr bytes.Buffer
	c.Stdout, c.Stderr = r.options.Stdout, &stderr
	c.WaitDelay = 10 * time.Second
	if err := c.Run(); err != nil {
		return nil, r.failure(once(stderr.String()), err)
	}
	if r.options.Stderr != nil {
		io.WriteString(r.options.Stderr, once(stderr.String()))
	}
	file, err := os.ReadFile(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: the description ended the program that records it", shownAs(r.dir))
	}
	return file, err
}

// once shortens `text`, the output of a program that recorded a description several times. The result has only the
// output of the first recording.
func once(text string) string {
	first, rest, _ := strings.Cut(text, nn.Between)
	return first + rest[strings.LastIndex(rest, nn.Between)+1:]
}

// overlay writes the virtual files to the folder tmp. It also writes a JSON file for the go command. The JSON file
// maps the virtual paths to the files in tmp. It returns the path of the JSON file.
func (r *recording) overlay(tmp string) (path string, err error) {
	files := map[string][]byte{
		filepath.Join(r.dir, glueFile):           r.glue,
		filepath.Join(r.dir, mainDir, "main.go"): r.main,
	}
	if own := filepath.Join(r.dir, config.File); r.config != nil {
		files[own] = r.config
	} else if exists(own) {
		files[own] = nil // a stale file
	}
	replace := map[string]string{}
	for name, src := range files {
		real := ""
		if src != nil {
			real = filepath.Join(tmp, fmt.Sprintf("%d.go", len(replace)))
			if err := os.WriteFile(real, src, 0o666); err != nil {
				return "", err
			}
		}
		replace[name] = real
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	path = filepath.Join(tmp, "overlay.json")
	return path, os.WriteFile(path, list, 0o666)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// exited matches the message of the go command for a program that failed.
var exited = regexp.MustCompile(`^exit status \d+$`)

// crashed matches the line in which the Go runtime explains why it ended a program.
var crashed = regexp.MustCompile(`(?m)^((?:panic|fatal error): .*)$`)

// frame matches a position in a goroutine's stack.
var frame = regexp.MustCompile(`(?m)^\t(.+\.go):(\d+)(?: |$)`)

// crash returns the reason why the Go runtime ended the program whose output is text. It adds the
// first stack position in the description's folder. It returns nil if the runtime did not end the
// program.
func (r *recording) crash(text string) error {
	why := crashed.FindString(text)
	if why == "" || !strings.Contains(text, "\ngoroutine ") {
		return nil
	}
	for _, at := range frame.FindAllStringSubmatch(text, -1) {
		if file, err := filepath.Rel(r.dir, at[1]); err == nil && filepath.IsAbs(at[1]) && filepath.IsLocal(file) && file != glueFile && filepath.Dir(file) != mainDir {
			return fmt.Errorf("%s:%s: %s", file, at[2], why)
		}
	}
	return fmt.Errorf("%s: %s", shownAs(r.dir), why)
}

// failure returns the error that the go command, or the program, printed in text. If text has no
// message, it returns err, the error of the command itself.
func (r *recording) failure(text string, err error) error {
	if crash := r.crash(text); crash != nil {
		return crash
	}
	var out lines
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if line == "" || strings.HasPrefix(line, "# ") || exited.MatchString(line) {
			continue
		}
		out = append(out, strings.TrimPrefix(line, "."+string(filepath.Separator)))
	}
	if len(out) == 0 {
		out = append(out, fmt.Sprintf("%s: %v", shownAs(r.dir), err))
	}
	return out
}
