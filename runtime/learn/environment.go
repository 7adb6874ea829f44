package learn

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/burngen/burngen/runtime/rt"
)

// environment is the content of environment.json: the circumstances in which a run began.
type environment struct {
	Time     time.Time `json:"time"`
	Command  []string  `json:"command"`
	Go       string    `json:"go"`
	Module   string    `json:"module,omitempty"`
	Version  string    `json:"version,omitempty"`
	Commit   string    `json:"commit,omitempty"`
	Modified bool      `json:"modified,omitempty"` // the commit was changed before the program was built
	OS       string    `json:"os"`
	CPU      string    `json:"cpu"` // architecture
	Cores    int       `json:"cores"`
	Threads  int       `json:"threads"`
	Host     string    `json:"host,omitempty"`
	Seed     uint64    `json:"seed"`  // of the training data
	Data     string    `json:"data"`  // digest of some items
	Model    string    `json:"model"` // digest of the names and shapes of the parameters
}

func environmentOf(now time.Time, p *rt.Params, id *identity) environment {
	e := environment{Time: now, Command: os.Args, Go: runtime.Version(), OS: runtime.GOOS, CPU: runtime.GOARCH, Cores: runtime.NumCPU(),
		Threads: runtime.GOMAXPROCS(0), Seed: id.Seed, Data: id.Data, Model: modelDigest(p)}
	e.Host, _ = os.Hostname()
	if info, ok := debug.ReadBuildInfo(); ok {
		e.Module, e.Version = info.Main.Path, info.Main.Version
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				e.Commit = s.Value
			case "vcs.modified":
				e.Modified = s.Value == "true"
			}
		}
	}
	return e
}

// modelDigest returns the SHA-256 of the names and shapes of parameters, in hexadecimal.
func modelDigest(p *rt.Params) string {
	h := sha256.New()
	for _, it := range p.Items {
		fmt.Fprintf(h, "%q %v\n", it.Name, it.Shape)
	}
	return hex.EncodeToString(h.Sum(nil))
}
