package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/burngen/burngen/runtime/dash"
	"github.com/burngen/burngen/runtime/dash/web"
)

var watchCommand = command{
	name:  "watch",
	usage: "RUN [flags]",
	short: "show a run of training from its folder while it goes on, in the terminal or in a browser",
	examples: `  burngen watch runs/mnist
  burngen watch runs/mnist -http :8080
`,
	define: defineWatch,
}

func defineWatch(flags *flagSet) func(*streams, []string) error {
	address := flags.String("http", "", "serve the dashboard as a web page at `ADDRESS`, as in :8080. Without a host, only this machine can open\nthe page. Anyone who can open the page can read the run (default: show it in the terminal)")
	return func(s *streams, args []string) error {
		if len(args) != 1 {
			return usagef("name one folder of a run, got %q", args)
		}
		if *address == "" && flags.isGiven("http") {
			return usagef("-http: the address is empty")
		}
		// The dashboard restores the terminal before the program ends.
		signals := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
		signal.Reset(signals...)
		ctx, stop := signal.NotifyContext(context.Background(), signals...)
		defer stop()
		if *address == "" {
			return watchError(dash.Watch(ctx, args[0]))
		}
		return watchError(web.Serve(ctx, *address, args[0], func(url string) {
			fmt.Fprintf(s.out, "%s shows %s; Ctrl-C ends it\n", url, args[0])
		}))
	}
}

func watchError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("watch: %w", err)
}
