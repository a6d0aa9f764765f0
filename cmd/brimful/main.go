// Brimful packs tokenized samples into training rows. See brimful --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

// version is the version of the command.
const version = "0.1.0"

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
	exitWrong  = 3 // verify found the data wrong
)

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// usagef returns a usageError.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// errInterrupted is what the command says after a signal.
var errInterrupted = errors.New("interrupted: run the same command again to go on where it stopped")

// grace is how long a signal waits for the work to end in order. What is on disk is whole at any moment.
const grace = 2 * time.Second

// gcPercent keeps the memory near what is in use: it is a few large buffers without pointers, which cost little to collect.
const gcPercent = 10

func main() {
	debug.SetGCPercent(gcPercent)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() {
		stop() // a second signal ends the process at once
		time.Sleep(grace)
		fmt.Fprintf(os.Stderr, "brimful: %v\n", errInterrupted) // it is blocked, most likely by reading from a pipe
		os.Exit(exitFailed)
	})
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// newRoot returns the command with all that are below it.
func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "brimful",
		Short: "pack tokenized samples into training rows",
		Long: `Brimful packs tokenized samples into rows filled to the brim, each sample whole and apart from its
neighbours, and writes them as Parquet, Arrow or Hugging Face folders that a trainer reads directly.`,
		Version:            version,
		SilenceErrors:      true,
		SilenceUsage:       true,
		DisableSuggestions: true, // commandError makes its own
	}
	root.SetFlagErrorFunc(flagError)
	root.SetUsageTemplate(usageTemplate(root))
	root.AddCommand(packCommand(), verifyCommand(), planCommand(), runUnitCommand(), missingCommand(), finishCommand(), layoutsCommand(), unpackCommand(),
		compareCommand(), inspectCommand(), manCommand())
	for _, c := range root.Commands() {
		if err := complete(c); err != nil {
			panic(err) // a flag is named that there is not
		}
	}
	return root
}

// run runs the command line and returns the exit code. Data and --json go to stdout, what a person reads to stderr.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && cmd == root && strings.HasPrefix(err.Error(), "unknown command") {
		err = commandError(root, args, err)
	}
	var wrong usageError
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errWrong):
		return exitWrong
	case errors.As(err, &wrong), cmd == root:
		fmt.Fprintf(stderr, "brimful: %v\nbrimful: see '%s --help'\n", err, cmd.CommandPath())
		return exitUsage
	}
	fmt.Fprintf(stderr, "brimful: %v\n", err)
	return exitFailed
}
