package load

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// targets are the variables that say what the go command builds for.
var targets = strings.Fields("GOOS GOARCH GOARM GOARM64 GOAMD64 GO386 GOMIPS GOMIPS64 GOPPC64 GORISCV64 GOWASM GOEXPERIMENT")

// hostEnv returns the environment in which the go command builds for this machine,
// whatever it is told to build for otherwise, and works in a folder.
func hostEnv(dir string) ([]string, error) {
	var env []string
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains(targets, name) {
			env = append(env, kv)
		}
	}
	env = append(env, "PWD="+dir, "GOPACKAGESDRIVER=off")
	// Variables win over what "go env -w" has stored.
	c := exec.Command("go", "env", "GOHOSTOS", "GOHOSTARCH")
	c.Dir, c.Env = dir, env
	out, err := c.Output()
	host := strings.Fields(string(out))
	if err != nil || len(host) != 2 {
		return nil, fmt.Errorf("go env: a Go toolchain is needed to read descriptions: %v", err)
	}
	return append(env, "GOOS="+host[0], "GOARCH="+host[1]), nil
}
