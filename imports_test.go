// Package brimful_test keeps what concerns the module as a whole: the direction of imports and the README.
package brimful_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/brimful/brimful"

// deps returns all packages that a package depends on, itself left out.
func deps(t *testing.T, pkg string) []string {
	out, err := exec.Command("go", "list", "-deps", pkg).Output()
	require.NoError(t, err, pkg)
	all := strings.Fields(string(out))
	return slices.DeleteFunc(all, func(p string) bool { return p == pkg })
}

// foreign returns the packages that are neither of the standard library nor below the module's path given.
func foreign(packages []string, below ...string) []string {
	return slices.DeleteFunc(slices.Clone(packages), func(p string) bool {
		first, _, _ := strings.Cut(p, "/")
		return !strings.Contains(first, ".") || slices.ContainsFunc(below, func(b string) bool { return p == module+b || strings.HasPrefix(p, module+b+"/") })
	})
}

// Imports go one way: packing and position know the standard library only and not each other, tokenstream joins them, each format adds
// its own library, dataset and source stand on the formats, and nothing imports a command, an example or a benchmark.
func TestImports(t *testing.T) {
	require.Empty(t, foreign(deps(t, module+"/packing"), "/packing"))
	require.Empty(t, foreign(deps(t, module+"/position")))
	require.Empty(t, foreign(deps(t, module+"/compare"), "/packing"))
	require.Empty(t, foreign(deps(t, module+"/tokenstream"), "/packing", "/position"))
	for format, library := range map[string]string{"parquet": "parquet-go", "arrow": "arrow-go", "jsonl": "", "megatron": "", "npy": ""} {
		for _, p := range deps(t, module+"/tokenstream/"+format) {
			for _, heavy := range []string{"parquet-go/parquet-go", "apache/arrow-go"} {
				require.False(t, strings.Contains(p, heavy) && (library == "" || !strings.Contains(heavy, library)), "%s links %s", format, p)
			}
			require.NotContains(t, p, module+"/tokenstream/dataset", format)
		}
	}
	for _, p := range []string{"/compare", "/tokenstream/dataset", "/verify", "/inspect"} {
		require.NotContains(t, strings.Join(deps(t, module+p), " "), "gonum.org", "%s draws plots", p)
	}
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}} {{join .Imports \" \"}}", "./...").Output()
	require.NoError(t, err)
	for line := range strings.Lines(string(out)) {
		importer, imports, _ := strings.Cut(strings.TrimSpace(line), " ")
		for _, p := range strings.Fields(imports) {
			for _, leaf := range []string{"/cmd", "/examples", "/bench", "/interop"} {
				require.False(t, strings.HasPrefix(p, module+leaf) && !strings.HasPrefix(importer, module+leaf), "%s imports %s", importer, p)
			}
		}
	}
}
