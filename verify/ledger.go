package verify

import (
	"cmp"
	"maps"
	"slices"
)

// ledger compares the manifest's ledgers, all splits together, with what the rules made of the source.
func (e *expected) ledger() {
	c := e.c
	var in, out, wantIn, wantOut count
	longest, unlabelled := int64(0), int64(0)
	files := map[string][2]count{}
	removed := map[[2]string]removal{}
	var names []string // of the files in the ledgers
	for _, s := range c.m.Splits {
		if s.Stats == nil {
			return // which the report says
		}
		l := s.Stats.Ledger
		in, out = in.plus(l.In), out.plus(l.Out)
		longest, unlabelled = max(longest, s.Stats.Longest), unlabelled+s.Stats.Unlabelled
		for _, f := range l.Files {
			if _, ok := files[f.File]; !ok {
				names = append(names, f.File)
			}
			files[f.File] = [2]count{files[f.File][0].plus(f.In), files[f.File][1].plus(f.Out)}
		}
		for _, r := range l.Removed {
			k := [2]string{r.Reason, r.File}
			sum := removed[k]
			removed[k] = removal{r.Reason, r.File, sum.Affected + r.Affected, sum.Samples + r.Samples, sum.Tokens + r.Tokens, sum.Supervised + r.Supervised}
		}
	}
	for _, f := range e.files {
		wantIn, wantOut = wantIn.plus(f[0]), wantOut.plus(f[1])
	}
	if in != wantIn {
		c.add("ledger", manifestName, "in is %+v: the source holds %+v", in, wantIn)
	}
	if out != wantOut {
		c.add("ledger", manifestName, "out is %+v: the rules give %+v", out, wantOut)
	}
	e.byFile(names, files, removed)
	c.equal("counts", manifestName, []figure{{"stats.longest", longest, e.longest}, {"stats.unlabelled", unlabelled, e.unlabelled}})
	switch { // in which order segments are batched
	case len(c.m.Splits) > 1: // it is not known here in which split a segment is
	case c.m.Job.Units > 0 || c.mixture != nil:
		c.unchecked("stats.padded_to_longest")
	default:
		e.padBatch()
		c.equal("counts", manifestName, []figure{{"stats.padded_to_longest", c.m.Splits[0].Stats.PaddedToLongest, e.padded}})
	}
}

// byFile compares what the ledgers say of each file. Files of the source may have other names now than when they were packed.
func (e *expected) byFile(names []string, files map[string][2]count, removed map[[2]string]removal) {
	c := e.c
	rename := renamed(e.names, names, c.m.inputs())
	wantFiles := map[string][2]count{}
	for f, sums := range e.files {
		f = rename(f)
		wantFiles[f] = [2]count{wantFiles[f][0].plus(sums[0]), wantFiles[f][1].plus(sums[1])}
	}
	wantRemoved := map[[2]string]removal{}
	for _, r := range e.removed {
		k := [2]string{r.Reason, rename(r.File)}
		sum := wantRemoved[k]
		wantRemoved[k] = removal{k[0], k[1], sum.Affected + r.Affected, sum.Samples + r.Samples, sum.Tokens + r.Tokens, sum.Supervised + r.Supervised}
	}
	if rename("") == anyFile { // the files can't be told apart
		all := [2]count{}
		for _, sums := range files {
			all = [2]count{all[0].plus(sums[0]), all[1].plus(sums[1])}
		}
		files = map[string][2]count{anyFile: all}
		sums := map[[2]string]removal{}
		for _, r := range removed {
			k := [2]string{r.Reason, anyFile}
			sum := sums[k]
			sums[k] = removal{r.Reason, anyFile, sum.Affected + r.Affected, sum.Samples + r.Samples, sum.Tokens + r.Tokens, sum.Supervised + r.Supervised}
		}
		removed = sums
	}
	for _, f := range union(files, wantFiles, cmp.Compare[string]) {
		if files[f] != wantFiles[f] {
			c.add("ledger", manifestName, "of file %q, in and out are %+v: want %+v", f, files[f], wantFiles[f])
		}
	}
	for _, k := range union(removed, wantRemoved, func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		if got, want := removed[k], wantRemoved[k]; got.Affected != want.Affected || got.count() != want.count() {
			c.add("ledger", manifestName, "removed as %s from %q: %d samples affected, %+v: want %d, %+v", k[0], k[1], got.Affected, got.count(), want.Affected, want.count())
		}
	}
}

func union[K comparable, V any](a, b map[K]V, compare func(K, K) int) []K {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return slices.SortedFunc(maps.Keys(all), compare)
}

// anyFile stands for all files where they can't be told apart.
const anyFile = "*"

// inputs returns the names of the inputs as they are in ledgers.
func (m *manifest) inputs() []string {
	var names []string
	for _, in := range m.Inputs {
		if in.Path == "-" {
			in.Path = "stdin"
		}
		names = append(names, in.Path)
	}
	return names
}

// renamed returns a function from the names of the source's files to those in the ledger: the same names if the ledger or the inputs
// have all of them, else the input at the same place if there are as many, else anyFile for all.
func renamed(source, ledger, inputs []string) func(string) string {
	same := true
	for _, f := range source {
		same = same && (slices.Contains(ledger, f) || slices.Contains(inputs, f))
	}
	switch {
	case same:
		return func(f string) string { return f }
	case len(source) == len(inputs):
		return func(f string) string {
			if i := slices.Index(source, f); i >= 0 {
				return inputs[i]
			}
			return f
		}
	}
	return func(string) string { return anyFile }
}
