package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "write a manual page for each command",
		Long:  `Man writes brimful.1 and a page for each command, brimful-pack.1 and so on, into DIR, which is made if it is not there.`,
		Example: `  brimful man ~/.local/share/man/man1
  man brimful-pack`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("%d directories: want one", len(args))
			}
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			for _, c := range append(root.Commands(), root) {
				if c != root && (!c.IsAvailableCommand() || c.Name() == "completion" || c.Name() == "help") {
					continue
				}
				page, err := manPage(c)
				if err != nil {
					return err
				}
				name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
				if err := os.WriteFile(filepath.Join(args[0], name), page, 0o644); err != nil {
					return err
				}
				fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", filepath.Join(args[0], name))
			}
			return nil
		},
	}
}

// manPage returns the page of a command. It has no date, so that it is the same whenever it is made.
func manPage(c *cobra.Command) ([]byte, error) {
	never := time.Unix(0, 0).UTC()
	c.DisableAutoGenTag = true
	var b bytes.Buffer
	err := doc.GenMan(c, &doc.GenManHeader{Section: "1", Source: "brimful " + version, Date: &never, Manual: "brimful"}, &b)
	return bytes.Replace(b.Bytes(), []byte(`"Jan 1970"`), []byte(`""`), 1), err
}
