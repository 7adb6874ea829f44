package gen

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

var moduleLine = regexp.MustCompile("(?m)^module[ \t]+(\"[^\"\n]+\"|`[^`\n]+`|[^ \t\r\n/][^ \t\r\n]*)")

// ImportPath returns the import path of a folder, which need not exist. It returns an error if the
// folder is not in a module.
func ImportPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	there := existing(abs)
	c := exec.Command("go", "env", "GOMOD")
	c.Dir = there
	out, err := c.Output()
	file := strings.TrimSpace(string(out))
	if err != nil || file == "" || file == os.DevNull {
		return "", fmt.Errorf("%s: is in no module, so the package cannot be imported; run go mod init first", dir)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	found := moduleLine.FindSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("%s: has no module line", file)
	}
	module := string(found[1])
	if unquoted, err := strconv.Unquote(module); err == nil {
		module = unquoted
	}
	root, err := filepath.EvalSymlinks(filepath.Dir(file))
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(there)
	if err != nil {
		return "", err
	}
	below, err := filepath.Rel(root, filepath.Join(real, strings.TrimPrefix(abs, there)))
	if err != nil || !fs.ValidPath(filepath.ToSlash(below)) {
		return "", fmt.Errorf("%s: is not below its module, %s", dir, root)
	}
	return path.Join(module, filepath.ToSlash(below)), nil
}

// existing returns the innermost folder that exists: dir, or one above it. It is "" if there is no such
// folder.
func existing(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		above := filepath.Dir(dir)
		if above == dir {
			return ""
		}
		dir = above
	}
}
