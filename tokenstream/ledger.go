package tokenstream

import (
	"cmp"
	"fmt"
	"slices"
)

// A Count is an amount of data.
type Count struct {
	Samples    int64 `json:"samples"`
	Tokens     int64 `json:"tokens"`
	Supervised int64 `json:"supervised"` // supervised tokens
}

// Plus returns the sum of two amounts.
func (c Count) Plus(d Count) Count {
	return Count{c.Samples + d.Samples, c.Tokens + d.Tokens, c.Supervised + d.Supervised}
}

// A Ledger accounts for everything that went into [Pack]: In = Out + the sum of Removed, in samples, tokens and supervised tokens.
type Ledger struct {
	In      Count     `json:"in"`
	Out     Count     `json:"out"`
	Removed []Removal `json:"removed"` // in the order of the reasons, then of the files
	Files   []FileUse `json:"files"`   // in the order in which they were read; one without a name if the samples' places have none

	Sources []Use `json:"sources,omitempty"` // by source, where Options.Sources says that there are several
}

// A FileUse is what came from one file, and what of it is in the rows.
type FileUse struct {
	File string `json:"file"`
	Use
}

// A Use is what was read, and what of it is in the rows.
type Use struct {
	In  Count `json:"in"`
	Out Count `json:"out"`
}

func (u Use) plus(v Use) Use { return Use{u.In.Plus(v.In), u.Out.Plus(v.Out)} }

// A Removal is what one reason took away from the samples of one file.
type Removal struct {
	Reason   Reason `json:"reason"`
	File     string `json:"file,omitempty"`
	Affected int64  `json:"affected"` // samples it applied to, whether they went altogether or lost a part
	Count           // what is not in the rows because of it
}

// A Reason is why something is not in the rows.
type Reason string

const (
	ReasonTooLong   Reason = "too_long"            // dropped under Drop
	ReasonTruncated Reason = "truncated"           // tokens cut off under Truncate or TruncateLeft
	ReasonSplit     Reason = "split"               // first tokens of later pieces, which are no longer supervised
	ReasonEmpty     Reason = "empty"               // samples without tokens
	ReasonNoTarget  Reason = "no_target"           // samples that came without a supervised token
	ReasonCutTarget Reason = "no_target_after_cut" // samples, or pieces of samples, that lost every supervised token to a cut
)

// Check returns an error if the ledger does not balance.
func (l *Ledger) Check() error {
	sum := l.Out
	for _, r := range l.Removed {
		sum = sum.Plus(r.Count)
	}
	if sum != l.In {
		return fmt.Errorf("ledger: in %+v is not out and removed %+v", l.In, sum)
	}
	var files, sources Use
	for _, f := range l.Files {
		files = files.plus(f.Use)
	}
	for _, u := range l.Sources {
		sources = sources.plus(u)
	}
	switch all := (Use{l.In, l.Out}); {
	case files != all:
		return fmt.Errorf("ledger: in and out %+v are not the sums over the files, %+v", all, files)
	case len(l.Sources) > 0 && sources != all:
		return fmt.Errorf("ledger: in and out %+v are not the sums over the sources, %+v", all, sources)
	}
	return nil
}

// remove books a removal.
func (l *Ledger) remove(reason Reason, file string, c Count) {
	key := func(r Removal, reason Reason) int {
		return cmp.Or(cmp.Compare(r.Reason, reason), cmp.Compare(r.File, file))
	}
	i, found := slices.BinarySearchFunc(l.Removed, reason, key)
	if !found {
		l.Removed = slices.Insert(l.Removed, i, Removal{Reason: reason, File: file})
	}
	l.Removed[i].Affected++
	l.Removed[i].Count = l.Removed[i].Plus(c)
}

// removedBy returns how many samples the reasons applied to.
func (l *Ledger) removedBy(reasons ...Reason) int64 {
	n := int64(0)
	for _, r := range l.Removed {
		if slices.Contains(reasons, r.Reason) {
			n += r.Affected
		}
	}
	return n
}
